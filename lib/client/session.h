// Session: one program as its client has it. The session writes the program's
// lines, knows the types of its values, and gets its results. The functions
// throw Failure (failure.h), and may be called from any thread. Most are
// functions of gt/c.h, where they are described.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "client/call_types.h"
#include "client/channel.h"
#include "client/failure.h"
#include "client/leaves.h"
#include "client/names.h"
#include "client/paths.h"
#include "client/place_notes.h"
#include "client/value.h"
#include "client/value_files.h"
#include "stream/line.h"

namespace gt::client {

class Session {
 public:
  // The same as gt_open(); `where` must not be null. Users hold values of the
  // session, which it must outlive; so a session that was opened lives as long
  // as the process.
  static std::unique_ptr<Session> open(std::string_view where);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void call(const gt_instruction& call, gt_value** results);
  void line(std::string_view text);
  void save(const std::string& path, std::span<gt_value* const> values,
            std::span<const char* const> names, gt_place at);
  gt_value* write(const gt_type& type, const void* bytes, const char* name,
                  gt_place at);
  void read(gt_value& value, void* bytes, gt_place at);
  void print(gt_value& value, const char* as, gt_place at);
  Type stored_type(const std::string& path);
  void send_file(const std::string& path);
  void fetch_file(const std::string& path);
  // The same as gt_tape() and gt_dot().
  std::string tape(gt_value& value);
  std::string dot(gt_value& value);
  void rename(gt_value& value, std::string_view name, gt_place at);
  void sync();
  // Sets `status` in any case.
  void close(Exit& status);
  void log_to(std::string_view path) { channel_.log_to(path); }

  // Frees the value, which has no owner any more.
  void drop(gt_value* value) noexcept;
  // Says whether backward() computes the gradient by the value.
  void require_grad(gt_value& value, bool is_on);
  void backward(gt_value& loss, bool retain, gt_place at);
  void set_gradient(gt_value& value, gt_value* gradient);

  // After fork(), in the child: gives up what belongs to the parent. The child
  // must hold the lock.
  void forget();
  // True unless the session is closed or was opened by the parent process.
  // Takes no lock.
  bool is_open() const { return channel_.is_open(); }
  // The lock that each call holds, but not while it waits.
  std::mutex& mutex() { return channel_.mutex(); }
  // The pointer by which users know the session; it lives as long as the
  // process.
  gt_session* handle() const { return handle_; }
  void set_handle(gt_session* handle) { handle_ = handle; }

 private:
  Session() = default;

  const gt_value& checked(const gt_value* value) const;
  // Empties text_, then appends the lines that free the files and registers
  // which nobody holds. The caller must expect the answer to a line that asks
  // for a result only after this call.
  void begin_lines();
  // Checks a call, and returns what it makes, valid until the next one.
  const CallTypes& types_of(const gt_instruction& call);
  // Does the work of call(), with the lock held.
  void write_call(const gt_instruction& call, gt_value** results,
                  Channel::Lock& lock);
  void name_results(const gt_instruction& call, const CallTypes& made,
                    std::span<Names::Name> names);
  void find_types(const gt_instruction& call, std::span<TypeId> types) const;
  bool has_gradient(TypeId type) const;
  void append_lines(const gt_instruction& call, const CallTypes& made,
                    std::span<const Names::Name> names);
  void bind_results(const gt_instruction& call, const CallTypes& made,
                    Reach reach, std::span<Names::Name> names,
                    gt_value** results);
  void drop_new(const gt_instruction& call, gt_value** results);
  void set_type(gt_value& value, TypeId type);
  gt_value* make_value(Names::Name name, TypeId type, Reach reach);
  void drop_locked(gt_value* value) noexcept;
  std::string ask_for(gt_value& value, gt_place at, Channel::Lock& lock);
  gt_value* write_file(const Type& type, const void* bytes,
                       gt_instruction& call, Channel::Lock& lock);
  void read_value(gt_value& value, void* bytes, gt_place at);
  void read_file(gt_value& value, void* bytes, gt_place at,
                 Channel::Lock& lock);

  Channel channel_;
  ValueFiles files_{channel_};
  Paths paths_;
  CallTable table_{paths_};
  Names names_;
  PlaceNotes places_;
  Leaves leaves_;
  gt_value* values_ = nullptr;  // all values, the newest first
  uint64_t serial_ = 0;         // the number of the last event (gt_value::made)
  std::string text_;            // the lines of the current call
  gt_session* handle_ = nullptr;
};

}  // namespace gt::client
