#include "route/sequencer.h"

#include <algorithm>
#include <utility>

#include "net/control_lines.h"

namespace gt::route {

Sequencer::Sequencer(uint32_t workers, Sink log)
    : log_(std::move(log)),
      loads_(workers),
      paths_(workers),
      saving_(workers),
      outbox_(workers) {
  for (uint32_t w = 0; w < workers; ++w) {
    everyone_.push_back(w);
    alone_.push_back({w});
  }
}

void Sequencer::issue(const Workers& workers, std::string_view text,
                      const SourceLine& source, Issue::Kind kind) {
  const uint64_t seq = next_seq_++;
  if (told_file_ != source.file) tell_file(source);
  outbox_.add(workers, seq, static_cast<int64_t>(source.line), text);
  note_given(workers, seq);
  if (log_) log_({seq, source.line, text, &workers, kind});
}

void Sequencer::note_given(const Workers& workers, uint64_t seq) {
  if (user_ >= last_.size()) last_.resize(user_ + size_t{1});
  std::vector<uint64_t>& last = last_[user_];
  if (last.empty()) last.resize(loads_.size());
  for (const uint32_t w : workers) last[w] = seq;
}

std::vector<Awaited> Sequencer::given_to(UserId user) const {
  std::vector<Awaited> given;
  if (user >= last_.size()) return given;
  for (uint32_t w = 0; w < last_[user].size(); ++w) {
    if (last_[user][w] != 0) given.push_back({w, last_[user][w]});
  }
  return given;
}

void Sequencer::tell(std::string_view text, const SourceLine& source) {
  if (text.empty()) return;
  outbox_.add(everyone_, next_seq_, static_cast<int64_t>(source.line), text);
}

void Sequencer::tell_file(const SourceLine& source) {
  told_file_ = source.file;
  outbox_.drop_block();  // places in the input go back to the file's beginning
  if (!source.file->empty()) tell(net::file_line(*source.file), source);
}

void Sequencer::log_comment(std::string_view text,
                            const SourceLine& source) const {
  const Workers nobody;
  if (!log_) return;
  log_({last_seq(), source.line, text, &nobody, Issue::Kind::kComment});
}

void Sequencer::fence(const std::vector<RoutePath>& paths, const Workers& here,
                      const SourceLine& source) {
  if (paths.empty() || loads_.size() == 1) return;
  std::vector<net::FenceLine> fences;
  for (const RoutePath& path : paths) {
    const Workers& workers = path.workers.empty() ? here : path.workers;
    const size_t before = fences.size();
    if (path.writes) {
      for (const uint32_t w : workers) paths_.write(path.file, w, fences);
    } else {
      paths_.read(path.file, workers, fences);
    }
    for (size_t i = before; i < fences.size(); ++i) {
      fences[i].file = path.spelling;
    }
  }
  for (const net::FenceLine& fence : fences) issue_fence(fence, source);
}

uint32_t Sequencer::begin_save(const RoutePath& path, uint32_t home,
                               const SourceLine& source) {
  uint32_t writer = home;
  if (path.shares) {
    writer = paths_.writer_of(path.file).value_or(home);
    if (loads_.is_lost(writer)) writer = home;
    if (!saving_[writer]) ++save_changes_;
    saving_[writer] = true;
  }
  RoutePath written = path;
  written.workers = {writer};
  fence({written}, alone(writer), source);
  return writer;
}

void Sequencer::end_saves(const Workers& here, std::string_view mark,
                          const SourceLine& source) {
  for (uint32_t w = 0; w < saving_.size(); ++w) {
    if (!saving_[w]) continue;
    saving_[w] = false;
    ++save_changes_;
    if (std::ranges::find(here, w) != here.end()) continue;
    tell_one(w, mark, source);
  }
}

void Sequencer::issue_fence(const net::FenceLine& fence,
                            const SourceLine& source) {
  Workers all = fence.to;
  all.push_back(fence.from);
  std::sort(all.begin(), all.end());
  issue(all, net::text_of(fence), source, Issue::Kind::kControl);
}

std::vector<Outbox::Batch> Sequencer::take(Outbox::Take which) {
  std::vector<Outbox::Batch> out = outbox_.take(which);
  for (const Outbox::Batch& batch : out) {
    if (batch.last == 0) continue;  // it has no line that is ever reported done
    const uint64_t first = batch.first();
    for (const uint32_t w : batch.workers) loads_.mark(w, first, batch.last);
  }
  return out;
}

void Sequencer::repeat(uint64_t times, uint64_t seqs, uint64_t lines,
                       const std::vector<uint64_t>& costs) {
  outbox_.repeat(times, seqs, lines);
  // Every worker that had a line in the round has one in the last round.
  for (std::vector<uint64_t>& last : last_) {
    for (uint64_t& seq : last) {
      if (seq + seqs >= next_seq_) seq += times * seqs;
    }
  }
  next_seq_ += times * seqs;
  for (uint32_t w = 0; w < loads_.size(); ++w) {
    loads_.add(w, times * costs[w]);
  }
}

}  // namespace gt::route
