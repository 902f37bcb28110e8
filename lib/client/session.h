// One program, as its client has it: the session writes its lines, knows the
// types of its values, and gets its results. Its functions throw Failure
// (failure.h), and may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "client/call_types.h"
#include "client/courier.h"
#include "client/failure.h"
#include "client/inbox.h"
#include "client/leaves.h"
#include "client/link.h"
#include "client/names.h"
#include "client/pipeline.h"
#include "client/store.h"
#include "client/value.h"

namespace gt::client {

// The line whose answer says that all before it has run (stream/marks.h). It
// has no number, since each round of a loop is to be the same text.
inline constexpr char kSync[] = "#sync gt\n";

class Session : public std::enable_shared_from_this<Session> {
 public:
  // As gt_open(); `where` may not be null.
  static std::shared_ptr<Session> open(std::string_view where);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void call(const gt_instruction& call, gt_value** results);
  void line(std::string_view text);
  gt_value* write(const gt_type& type, const void* bytes, const char* name,
                  gt_place at);
  void read(gt_value& value, void* bytes, gt_place at);
  void print(gt_value& value, const char* as, gt_place at);
  void send_file(const std::string& path);
  void fetch_file(const std::string& path);
  void rename(gt_value& value, std::string_view name, gt_place at);
  void sync();
  Exit close();
  void log_to(std::string_view path);

  // Nobody owns the value any more.
  void drop(gt_value* value) noexcept;
  // The value requires a gradient, or no longer.
  void require_grad(gt_value& value, bool is_on);
  void backward(gt_value& loss, bool retain, gt_place at);
  void set_gradient(gt_value& value, gt_value* gradient);

  // After fork(), in the child, which holds the lock.
  void forget();
  // Neither closed nor another process's. Takes no lock.
  bool is_open() const { return !is_closed_ && !is_forked_; }
  // Held by each call, but not while it waits.
  std::mutex& mutex() { return mutex_; }
  // What users know it by, which lives as long as the process.
  gt_session* handle() const { return handle_; }
  void set_handle(gt_session* handle) { handle_ = handle; }

 private:
  Session() = default;

  void start(std::string_view where);
  // Whether results can be read; open_back() then makes sure of it.
  bool has_way_back() const;
  void open_back();
  void check_open() const;
  [[noreturn]] void fail_lost(const char* what);
  const gt_value& checked(const gt_value* value) const;
  void send(std::string_view text, Link::Lock& lock);
  // text_ begins anew, with what frees the registers that nobody holds.
  void begin_lines();
  // Writes text_, the last line of which asks for an answer, and waits for it.
  std::string ask(Link::Lock& lock);
  // call(), under the lock.
  void write_call(const gt_instruction& call, gt_value** results,
                  Link::Lock& lock);
  void name_results(const gt_instruction& call, const CallTypes& made,
                    std::span<Names::Name> names);
  void set_type(gt_value& value, TypeId type);
  gt_value* make_value(Names::Name name, TypeId type, Reach reach);
  void drop_locked(gt_value* value) noexcept;
  std::string ask_for(gt_value& value, gt_place at, Link::Lock& lock);
  gt_value* write_file(const Type& type, const void* bytes,
                       gt_instruction& call, Link::Lock& lock);
  void read_file(gt_value& value, void* bytes, gt_place at, Link::Lock& lock);
  void give(const Store::Place& place);
  void check_carried(const Status& status, const Type& type);

  mutable std::mutex mutex_;
  Pipeline pipeline_;
  CallTable table_;
  Names names_;
  Leaves leaves_;
  gt_value* values_ = nullptr;  // all, the newest first
  Inbox inbox_;
  Store store_;
  Courier courier_;
  size_t travelling_ = 0;  // bytes of files that are not yet loaded
  std::string text_;       // the lines that a call writes
  gt_session* handle_ = nullptr;
  bool gives_results_ = false;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_forked_{false};
  std::FILE* log_ = nullptr;
  std::unique_ptr<Link> link_;  // its thread uses what stands above
};

}  // namespace gt::client
