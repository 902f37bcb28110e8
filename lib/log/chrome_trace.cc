// Writes the trace event format of Chrome, which Perfetto opens: an object with
// "traceEvents". Events are in the order of their times, those of one thread
// nest (runs of a pass hold their instructions, and the waits between them),
// and flows are pairs of "s" within the slice
// that makes a value and "f" at the start of one that reads it.
#include <algorithm>
#include <tuple>

#include "base/units.h"
#include "log/escape.h"
#include "log/steps.h"
#include "log/timeline.h"
#include "stream/rows.h"

namespace gt::log {
namespace {

using Event = Timeline::Event;

// Appends microseconds with three digits after the point, exactly.
void append_micros(std::string& out, uint64_t nanoseconds) {
  char digits[kMaxDigits + 4];
  char* end = put_digits(digits, nanoseconds / 1000);
  put_digits(end, nanoseconds % 1000 + 1000);  // the 1 becomes the point
  *end = '.';
  out.append(digits, end + 4);
}

void append_field(std::string& out, const char* name, uint64_t value) {
  char digits[kMaxDigits];
  out += name;
  out.append(digits, put_digits(digits, value));
}

class ChromeWriter {
 public:
  ChromeWriter(const Timeline& timeline, Writer& out)
      : timeline_(timeline), steps_(timeline), out_(out) {
    for (uint32_t i = 0; i < timeline.words(); ++i) {
      words_.push_back("\"" + json_text(timeline.word(i)) + "\"");
    }
  }

  void write() {
    out_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
    name_lanes();
    sort_flows();
    sort_frames();
    for (uint32_t i = 0; i < timeline_.events().size() && out_.ok(); ++i) {
      const Event& event = timeline_.events()[i];
      frames_until(event.start);
      flow_starts_before(event.start);
      slice(event);
      flow_ends(i);
    }
    frames_until(UINT64_MAX);
    flow_starts_before(UINT64_MAX);
    out_.write("\n]}\n");
  }

 private:
  // Ranks are processes and queues are threads.
  uint64_t process_of(const Timeline::Lane& lane) const {
    uint64_t process = 1;
    for (size_t i = 1; &timeline_.lanes()[i - 1] != &lane; ++i) {
      process += timeline_.lanes()[i].rank != timeline_.lanes()[i - 1].rank;
    }
    return process;
  }

  void begin() {
    text_ = first_ ? "\n" : ",\n";
    first_ = false;
  }
  void end() { out_.write(text_); }

  void metadata(const char* what, const std::string& args, size_t lane) {
    begin();
    text_ += std::string("{\"ph\": \"M\", \"name\": \"") + what + "\"";
    place(lane);
    text_ += ", \"args\": {" + args + "}}";
    end();
  }

  void place(size_t lane) {
    append_field(text_, ", \"pid\": ", processes_[lane]);
    append_field(text_, ", \"tid\": ", lane + 1);
  }

  void name_lanes() {
    for (const Timeline::Lane& lane : timeline_.lanes()) {
      processes_.push_back(process_of(lane));
    }
    for (size_t i = 0; i < timeline_.lanes().size(); ++i) {
      const Timeline::Lane& lane = timeline_.lanes()[i];
      if (i == 0 || processes_[i] != processes_[i - 1]) {
        const std::string owner = timeline_.owner(lane);
        const std::string name = owner.empty() ? "gt-work" : json_text(owner);
        metadata("process_name", "\"name\": \"" + name + "\"", i);
        metadata("process_sort_index",
                 "\"sort_index\": " + std::to_string(processes_[i]), i);
      }
      metadata("thread_name", "\"name\": \"" + json_text(lane.queue) + "\"", i);
      metadata("thread_sort_index", "\"sort_index\": " + std::to_string(i + 1),
               i);
    }
  }

  void begin_slice(const std::string& name, const std::string& category,
                   uint64_t start, uint64_t end, size_t lane) {
    begin();
    text_ += "{\"ph\": \"X\", \"name\": " + name + ", \"cat\": " + category +
             ", \"ts\": ";
    append_micros(text_, start);
    text_ += ", \"dur\": ";
    append_micros(text_, end - start);
    place(lane);
  }

  // A slice that is no instruction: what a run of them is, or a wait.
  struct Frame {
    uint64_t start, end;
    uint32_t lane;
    std::string name;
    const char* category;
    uint32_t event;  // what is waited to begin; or kNobody
  };

  void sort_frames() {
    for (const Steps::Run& run : steps_.runs()) {
      frames_.push_back({run.start, run.end, run.lane,
                         steps_.label(run.pass, run.mb), "pass",
                         Timeline::kNobody});
    }
    for (const Steps::Wait& wait : steps_.waits()) {
      frames_.push_back({wait.start, wait.end, wait.lane, steps_.label(wait),
                         "wait", wait.event});
    }
    std::ranges::stable_sort(frames_, [](const Frame& a, const Frame& b) {
      return std::tuple(a.start, b.end) < std::tuple(b.start, a.end);
    });
  }

  // Writes the frames that begin until then. They hold what begins with them.
  void frames_until(uint64_t time) {
    for (; next_frame_ < frames_.size() && out_.ok(); ++next_frame_) {
      const Frame& frame = frames_[next_frame_];
      if (frame.start > time) return;
      flow_starts_before(frame.start);
      begin_slice("\"" + json_text(frame.name) + "\"",
                  "\"" + std::string(frame.category) + "\"", frame.start,
                  frame.end, frame.lane);
      if (frame.event != Timeline::kNobody) {
        text_ += ", \"args\": {\"instruction\": " +
                 words_[timeline_.events()[frame.event].text] + "}";
      }
      text_ += "}";
      end();
    }
  }

  void slice(const Event& event) {
    begin_slice(words_[event.op],
                timeline_.word(event.signal).empty() ? "\"instruction\""
                                                     : words_[event.signal],
                event.start, event.end, event.lane);
    text_ += ", \"args\": {\"instruction\": " + words_[event.text] +
             ", \"at\": " + words_[event.at];
    if (!steps_.runs().empty() && event.pass != Pass::kNone) {
      text_ += ", \"pass\": \"" + std::string(word_of(event.pass)) + "\"";
    }
    if (event.mb != Timeline::kNobody) {
      text_ += ", \"microbatch\": " + words_[event.mb];
    }
    if (event.is_estimated) text_ += ", \"estimated\": true";
    append_field(text_, ", \"bytes\": ", event.bytes);
    text_ += ", \"flops\": " + decimal(event.flops, 0) + "}}";
    end();
  }

  // Returns the time at which a flow leaves its maker: the middle, since at its
  // end another slice may have begun. The maker must not be empty. A transfer
  // may begin before that.
  uint64_t leaves(const Timeline::Flow& flow) const {
    const Event& from = timeline_.events()[flow.from];
    const uint64_t middle = from.start + from.length() / 2;
    if (!timeline_.is_run()) return middle;
    return std::min(middle, timeline_.events()[flow.to].start);
  }

  void sort_flows() {
    const auto& flows = timeline_.flows();
    for (uint32_t i = 0; i < flows.size(); ++i) {
      const Event& to = timeline_.events()[flows[i].to];
      if (!flows[i].is_drawn ||
          timeline_.events()[flows[i].from].length() == 0 || to.length() == 0 ||
          leaves(flows[i]) > to.start) {
        continue;
      }
      starts_.push_back(i);
      ends_.push_back(i);
    }
    std::sort(starts_.begin(), starts_.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(leaves(flows[a]), a) < std::pair(leaves(flows[b]), b);
    });
    std::stable_sort(ends_.begin(), ends_.end(), [&](uint32_t a, uint32_t b) {
      return flows[a].to < flows[b].to;
    });
  }

  void flow_event(char phase, uint32_t flow, uint64_t time, size_t lane) {
    begin();
    text_ += "{\"ph\": \"";
    text_ += phase;
    text_ += "\", \"name\": \"value\", \"cat\": \"value\"";
    append_field(text_, ", \"id\": ", flow + 1);
    text_ += ", \"ts\": ";
    append_micros(text_, time);
    place(lane);
    text_ += phase == 'f' ? ", \"bp\": \"e\"}" : "}";
    end();
  }

  void flow_starts_before(uint64_t time) {
    for (; next_start_ < starts_.size(); ++next_start_) {
      const Timeline::Flow& flow = timeline_.flows()[starts_[next_start_]];
      const uint64_t leaving = leaves(flow);
      if (leaving >= time) return;
      flow_event('s', starts_[next_start_], leaving,
                 timeline_.events()[flow.from].lane);
    }
  }

  void flow_ends(uint32_t event) {
    for (; next_end_ < ends_.size(); ++next_end_) {
      const Timeline::Flow& flow = timeline_.flows()[ends_[next_end_]];
      if (flow.to != event) return;
      const Event& to = timeline_.events()[event];
      flow_event('f', ends_[next_end_], to.start, to.lane);
    }
  }

  const Timeline& timeline_;
  const Steps steps_;
  Writer& out_;
  std::vector<std::string> words_;   // quoted
  std::vector<uint64_t> processes_;  // indexed by lane
  std::vector<uint32_t> starts_, ends_;
  std::vector<Frame> frames_;
  size_t next_frame_ = 0;
  size_t next_start_ = 0;
  size_t next_end_ = 0;
  std::string text_;
  bool first_ = true;
};

}  // namespace

void write_chrome_trace(const Timeline& timeline, Writer& out) {
  ChromeWriter(timeline, out).write();
}

}  // namespace gt::log
