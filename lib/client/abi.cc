// The functions of gt/c.h. Each calls a Session, catches what that throws, and
// reports it to the caller by its return value and gt_error().
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "client/call_text.h"
#include "client/include/gt/c.h"
#include "client/scopes.h"
#include "client/session.h"

struct gt_session {
  std::unique_ptr<gt::client::Session> session;
};

namespace {

using gt::client::Failure;
using gt::client::Session;

// The text and the kind of the thread's last error.
struct LastError {
  gt_fault fault = GT_NONE;
  std::string text;
};
LastError& last_error() {
  thread_local LastError error;
  return error;
}

// Returns call()'s result. If it throws, sets the thread's last error and
// returns `bad`.
template <typename T, typename Call>
T guarded(T bad, const Call& call) {
  try {
    return call();
  } catch (const Failure& failure) {
    last_error() = {failure.fault, failure.message};
  } catch (const std::bad_alloc&) {
    last_error() = {GT_FILE, "there is not enough memory"};
  } catch (const std::exception& error) {
    last_error() = {GT_WRONG, error.what()};
  }
  return bad;
}

std::string printed(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string out(static_cast<size_t>(std::max(size, 0)), '\0');
  std::vsnprintf(out.data(), out.size() + 1, format, arguments);
  return out;
}

// All open sessions. The process closes them at its end, and a forked child
// gives them up.
class Sessions {
 public:
  static Sessions& all() {
    static Sessions* const sessions = new Sessions;  // outlives all statics
    return *sessions;
  }

  gt_session* open(const char* where) {
    const char* chosen = where != nullptr ? where : std::getenv("GT_CONNECT");
    auto* out = new gt_session{Session::open(chosen == nullptr ? "" : chosen)};
    out->session->set_handle(out);
    const std::lock_guard lock(mutex_);
    open_.push_back(out);
    return out;
  }
  // Says what failed, and lets the process end with status 1.
  void fail_at_exit(const std::string& why) {
    std::fprintf(stderr,
                 "libgt: %s: no exception has shown this, so the process ends "
                 "with status 1\n",
                 why.c_str());
    has_failed_ = true;
  }
  bool has_failed() const { return has_failed_; }
  gt_session* standard() {
    const std::lock_guard lock(standard_mutex_);
    if (standard_ == nullptr) standard_ = open(nullptr);
    return standard_;
  }

 private:
  Sessions() {
    ::pthread_atfork([] { all().hold(); }, [] { all().let_go(); },
                     [] { all().forget(); });
    std::atexit([] { all().close(); });
  }
  // Before fork(): waits until no thread is within a call, so that the child
  // gets a consistent copy of the sessions and of what calls share, such as the
  // table of ops.
  void hold() {
    standard_mutex_.lock();
    mutex_.lock();
    for (gt_session* session : open_) session->session->mutex().lock();
  }
  void let_go() {
    for (gt_session* session : open_) session->session->mutex().unlock();
    mutex_.unlock();
    standard_mutex_.unlock();
  }
  // After fork(), in the child: its sessions are the parent's to use.
  void forget() {
    for (gt_session* session : open_) session->session->forget();
    let_go();
    has_failed_ = false;
    open_.clear();
    standard_ = nullptr;
  }
  void close() {
    std::vector<gt_session*> open;
    {
      const std::lock_guard lock(mutex_);
      open = open_;
    }
    for (gt_session* session : open) {
      if (!session->session->is_open()) continue;
      // guarded() would set the thread's last error, which is destroyed by now.
      try {
        gt::Exit status = gt::Exit::kDone;
        session->session->close(status);
      } catch (const Failure& failure) {
        fail_at_exit(failure.message);
      }
    }
  }

  std::mutex mutex_;
  std::mutex standard_mutex_;
  std::vector<gt_session*> open_;
  gt_session* standard_ = nullptr;
  std::atomic<bool> has_failed_{false};
};

// Gives the process its status if something failed. The handler is registered
// as the library is loaded, so that it runs behind those of the user and the
// one that closes the sessions, which were registered later.
[[gnu::constructor]] void watch_exit() {
  ::on_exit(
      [](int status, void* /*none*/) {
        if (status != 0 || !Sessions::all().has_failed()) return;
        std::fflush(nullptr);
        ::_exit(1);
      },
      nullptr);
}

Session& session_of(gt_session* session) {
  if (session == nullptr) {
    gt::client::fail(GT_WRONG, "there is no session");
  }
  return *session->session;
}

gt_value& checked(gt_value* value) {
  if (value == nullptr) {
    gt::client::fail(GT_WRONG, "a tensor that holds nothing");
  }
  return *value;
}

}  // namespace

extern "C" {

const char* gt_error(void) { return last_error().text.c_str(); }
gt_fault gt_error_fault(void) { return last_error().fault; }
const char* gt_error_at(gt_place at) {
  thread_local std::string text;
  text = at.file == nullptr
             ? std::string()
             : std::string(at.file) + ":" + std::to_string(at.line) + ": ";
  text += last_error().text;
  return text.c_str();
}
void gt_set_error(gt_fault fault, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  last_error() = {fault, printed(format, arguments)};
  va_end(arguments);
}

gt_session* gt_open(const char* where) {
  return guarded<gt_session*>(nullptr,
                              [&] { return Sessions::all().open(where); });
}

gt_session* gt_session_default(void) {
  return guarded<gt_session*>(nullptr,
                              [] { return Sessions::all().standard(); });
}

int gt_close(gt_session* session, int* status) {
  return guarded(-1, [&] {
    gt::Exit ended = gt::Exit::kDone;
    const auto set = [&] {
      if (status != nullptr) *status = static_cast<int>(ended);
    };
    try {
      session_of(session).close(ended);
    } catch (const Failure&) {
      set();
      throw;
    }
    set();
    return 0;
  });
}

void gt_fail_at_exit(void) { Sessions::all().fail_at_exit(last_error().text); }

int gt_is_open(gt_session* session) {
  return session != nullptr && session->session->is_open();
}

int gt_sync(gt_session* session) {
  return guarded(-1, [&] { return session_of(session).sync(), 0; });
}

gt_value* gt_retain(gt_value* value) {
  if (value != nullptr) {
    value->owners.fetch_add(1, std::memory_order_relaxed);
  }
  return value;
}

void gt_release(gt_value* value) {
  if (value == nullptr) return;
  if (value->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    value->session->drop(value);
  }
}

const gt_type* gt_type_of(const gt_value* value) {
  return value == nullptr ? nullptr : value->shown;
}
const char* gt_name_of(const gt_value* value) {
  return value == nullptr ? "" : value->name.text.c_str();
}
int gt_rename(gt_value* value, const char* name, gt_place at) {
  return guarded(
      -1, [&] { return checked(value).session->rename(*value, name, at), 0; });
}
gt_session* gt_session_of(const gt_value* value) {
  return value == nullptr ? nullptr : value->session->handle();
}

int gt_call(gt_session* session, const gt_instruction* line,
            gt_value** results) {
  return guarded(-1,
                 [&] { return session_of(session).call(*line, results), 0; });
}

int gt_line(gt_session* session, const char* text) {
  return guarded(-1, [&] { return session_of(session).line(text), 0; });
}

int gt_save(gt_session* session, const char* path, gt_value* const* values,
            const char* const* names, size_t count, gt_place at) {
  return guarded(-1, [&] {
    session_of(session).save(path, {values, count}, {names, count}, at);
    return 0;
  });
}

int gt_note_begin(const char* key, const char* value) {
  return guarded(-1, [&] {
    const std::string text = value == nullptr ? "" : value;
    if (int64_t mb = 0; key == std::string_view("mb") &&
                        (!gt::read_number(text, mb) || mb < 0)) {
      gt::client::fail(
          GT_WRONG,
          "expected the number of a microbatch, 0 or more, got '" + text + "'");
    }
    const int number = gt::client::Scopes::of_thread().begin(key, text);
    if (number < 0) {
      gt::client::fail(GT_WRONG,
                       "no note: #" + std::string(key) + "=" + text +
                           " (its key is a name, and its value has no blank, "
                           "quote or '#')");
    }
    return number;
  });
}

void gt_note_end(int number) { gt::client::Scopes::of_thread().end(number); }

const char* gt_type_text(const gt_type* type) {
  thread_local std::string text;
  text = type == nullptr ? "" : gt::client::type_text(*type);
  return text.c_str();
}

size_t gt_bytes_of(const gt_type* type) {
  if (type == nullptr) return 0;
  return static_cast<size_t>(gt::client::elements_of(*type)) *
         gt::size_of(static_cast<gt::Dtype>(type->dtype));
}

gt_value* gt_write(gt_session* session, const gt_type* type, const void* bytes,
                   const char* name, gt_place at) {
  return guarded<gt_value*>(nullptr, [&] {
    if (type == nullptr) {
      gt::client::fail(GT_WRONG, "expected the type of the data, got NULL");
    }
    return session_of(session).write(*type, bytes, name, at);
  });
}

int gt_read(gt_value* value, void* bytes, gt_place at) {
  return guarded(
      -1, [&] { return checked(value).session->read(*value, bytes, at), 0; });
}

int gt_print(gt_value* value, const char* as, gt_place at) {
  return guarded(
      -1, [&] { return checked(value).session->print(*value, as, at), 0; });
}

int gt_stored_type(gt_session* session, const char* path, gt_type* type,
                   int64_t* sizes) {
  return guarded(-1, [&] {
    const gt::Type stored = session_of(session).stored_type(path);
    std::copy(stored.shape.begin(), stored.shape.end(), sizes);
    *type = {static_cast<gt_dtype>(stored.dtype),
             static_cast<int32_t>(stored.shape.size()), sizes};
    return 0;
  });
}

int gt_send_file(gt_session* session, const char* path) {
  return guarded(-1, [&] { return session_of(session).send_file(path), 0; });
}

int gt_fetch_file(gt_session* session, const char* path) {
  return guarded(-1, [&] { return session_of(session).fetch_file(path), 0; });
}

int gt_require_grad(gt_value* value, int is_on) {
  return guarded(-1, [&] {
    return checked(value).session->require_grad(*value, is_on != 0), 0;
  });
}

int gt_requires_grad(const gt_value* value) {
  return value != nullptr && value->leaf != gt::client::kNoLeaf;
}

int gt_reaches_grad(const gt_value* value) {
  return value != nullptr && value->reach != gt::client::Reaches::kNone;
}

int gt_backward(gt_value* loss, int retain, gt_place at) {
  return guarded(-1, [&] {
    return checked(loss).session->backward(*loss, retain != 0, at), 0;
  });
}

gt_value* gt_gradient(const gt_value* value) {
  return value == nullptr ? nullptr : value->gradient;
}

int gt_set_gradient(gt_value* value, gt_value* gradient) {
  return guarded(-1, [&] {
    return checked(value).session->set_gradient(*value, gradient), 0;
  });
}

int gt_no_grad(int by) { return gt::client::Scopes::of_thread().no_grad += by; }

int gt_log_to(gt_session* session, const char* path) {
  return guarded(-1, [&] {
    return session_of(session).log_to(path == nullptr ? "" : path), 0;
  });
}

const char* gt_tape(gt_value* value) {
  thread_local std::string text;
  return guarded<const char*>(nullptr, [&] {
    text = checked(value).session->tape(*value);
    return text.c_str();
  });
}

const char* gt_dot(gt_value* value) {
  thread_local std::string text;
  return guarded<const char*>(nullptr, [&] {
    text = checked(value).session->dot(*value);
    return text.c_str();
  });
}

const char* gt_version(void) { return gt::kVersion; }

}  // extern "C"
