// gt::Session, a program that this process writes, and where it runs; and the
// scopes, whose notes the lines of the program carry.
#pragma once

#include <cstdlib>
#include <string>

#include <gt/basic.h>

namespace gt::inline v1 {

// A program of its own, beside the program that the process has by default. It
// runs until close() or the destructor.
class Session {
 public:
  // `where` says what runs the program, as GT_CONNECT does: "", "-",
  // "tcp://HOST:PORT" (see libgt(3)).
  explicit Session(const std::string& where, At at = At::here())
      : session_(gt_open(where.c_str())) {
    if (session_ == nullptr) detail::fail(at);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (session_ != nullptr && gt_close(session_, nullptr) != 0) {
      gt_fail_at_exit();
    }
  }
  // Waits for all results, and returns the exit status that the pipeline ended
  // with. The session can no longer be used. Throws if a line failed, as a
  // save, that no exception has shown.
  int close(At at = At::here()) {
    int status = 0;
    gt_session* const open = raw(at);
    session_ = nullptr;
    detail::check(gt_close(open, &status), at);
    return status;
  }
  // Returns the session for the functions of gt/c.h. Error: it is closed.
  gt_session* raw(At at = At::here()) const {
    if (session_ == nullptr) {
      gt_set_error(GT_LOST, "the session is closed");
      detail::fail(at);
    }
    return session_;
  }

 private:
  gt_session* session_;
};

class Use;

namespace detail {

// The session that connect() opened, and the one that the first tensor did.
// They are read and written by the compiler's atomics, since <atomic> is a
// large header.
inline gt_session* process_session = nullptr;
inline gt_session* default_session = nullptr;
inline thread_local Use* innermost_use = nullptr;

// Throws if the process's session is open, since the call of `caller` would
// have no effect then. `remedy` is one more thing to do about it.
inline void check_none_open(const char* caller, const std::string& remedy,
                            At at) {
  if (gt_is_open(__atomic_load_n(&process_session, __ATOMIC_ACQUIRE)) == 0 &&
      gt_is_open(__atomic_load_n(&default_session, __ATOMIC_ACQUIRE)) == 0) {
    return;
  }
  gt_set_error(GT_WRONG,
               "%s: expected no open session; call it before the first tensor, "
               "or after close()%s",
               caller, remedy.c_str());
  fail(at);
}

// Checks a call that says how many workers there will be. `more` is what stands
// beside GT_WORKERS in the environment that says the same.
inline void check_workers(const char* caller, int count, const char* more,
                          At at) {
  if (count < 1) {
    gt_set_error(GT_WRONG, "%s: expected how many workers, 1 or more; found %d",
                 caller, count);
    fail(at);
  }
  check_none_open(
      caller,
      ", or run the program with GT_WORKERS=" + std::to_string(count) + more,
      at);
}

}  // namespace detail

// While a Use lives, its thread makes tensors in the given session. It must be
// destroyed in the thread that made it.
class Use {
 public:
  explicit Use(const Session& session, At at = At::here())
      : session_(session.raw(at)), outer_(detail::innermost_use) {
    detail::innermost_use = this;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    Use** at = &detail::innermost_use;
    while (*at != nullptr && *at != this) at = &(*at)->outer_;
    if (*at != nullptr) *at = outer_;
  }
  gt_session* session() const { return session_; }

 private:
  gt_session* session_;
  Use* outer_;
};

// Returns the session in which tensors without operands are made: that of the
// thread's innermost Use, else the one that connect() opened, else the one that
// GT_CONNECT asks for.
inline gt_session* current_session(At at = At::here()) {
  if (detail::innermost_use != nullptr) {
    return detail::innermost_use->session();
  }
  gt_session* session =
      __atomic_load_n(&detail::process_session, __ATOMIC_ACQUIRE);
  if (session != nullptr) return session;
  session = gt_session_default();
  if (session == nullptr) detail::fail(at);
  __atomic_store_n(&detail::default_session, session, __ATOMIC_RELEASE);
  return session;
}

// Opens the process's session at `where`, instead of where GT_CONNECT says.
// Error: it is open, since a tensor was made or connect() was called; close()
// ends it.
inline void connect(const std::string& where, At at = At::here()) {
  detail::check_none_open("connect", "", at);
  gt_session* session = gt_open(where.c_str());
  if (session == nullptr) detail::fail(at);
  __atomic_store_n(&detail::process_session, session, __ATOMIC_RELEASE);
}
// Runs the program on `count` workers, each with a GPU of its own. Errors: the
// count is less than 1; the process's session is open, as for connect().
inline void gpu_workers(int count, At at = At::here()) {
  detail::check_workers("gpu_workers", count, " GT_BACKEND=cuda", at);
  ::setenv("GT_WORKERS", std::to_string(count).c_str(), 1);
  ::setenv("GT_BACKEND", "cuda", 1);
}
// Runs the program on `count` workers that compute on CPUs. Errors: those of
// gpu_workers().
inline void cpu_workers(int count, At at = At::here()) {
  detail::check_workers("cpu_workers", count, "", at);
  ::setenv("GT_WORKERS", std::to_string(count).c_str(), 1);
}

// Waits until every line written so far has run and its results have been
// printed.
inline void sync(At at = At::here()) {
  detail::check(gt_sync(current_session(at)), at);
}
// Ends the program of the current session, and returns the pipeline's exit
// status.
inline int close(At at = At::here()) {
  int status = 0;
  detail::check(gt_close(current_session(at), &status), at);
  return status;
}
// Writes the stream to the file `path`, too, from now on; "" ends that.
inline void log(const char* path, At at = At::here()) {
  detail::check(gt_log_to(current_session(at), path), at);
}
// Writes `text` to the stream as one line, unchanged: a mesh, a comment.
inline void line(const std::string& text, At at = At::here()) {
  detail::check(gt_line(current_session(at), text.c_str()), at);
}

// Random ops without a seed draw from here on what they would draw in a new
// program under gt-emit --seed=`seed`.
inline void manual_seed(int64_t seed, At at = At::here()) {
  line("_eseed = tensor i64[] " + std::to_string(seed), at);
}

// ---- scopes: while one lives, the lines of its thread carry a note ----------

// The note #KEY=VALUE, or #KEY if the value is "". Error: the key is no name,
// or the value has a blank, a quote or '#'.
class Note {
 public:
  explicit Note(const std::string& key, const std::string& value = "",
                At at = At::here())
      : number_(gt_note_begin(key.c_str(), value.c_str())) {
    if (number_ < 0) detail::fail(at);
  }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  ~Note() { gt_note_end(number_); }

 private:
  int number_;
};

// The note #signal=NAME, by which a config places lines. A Signal within
// another one gives its lines "outer/inner".
struct Signal : Note {
  explicit Signal(const std::string& name, At at = At::here())
      : Note("signal", name, at) {}
};
// The note #mb=I, which says that the lines belong to microbatch I. Error: I is
// negative.
struct Microbatch : Note {
  explicit Microbatch(int i, At at = At::here())
      : Note("mb", std::to_string(i), at) {}
};
// The note #compile, which says that the lines are worth compiling together.
struct Compile : Note {
  explicit Compile(At at = At::here()) : Note("compile", "", at) {}
};
// The note #recompute=0 or #recompute=1: the backward pass computes these
// values again, so that they need not be kept. Scopes take turns, so that each
// is told from the one before it: what a scope reads is kept, as a layer's
// input.
struct Recompute : Note {
  explicit Recompute(At at = At::here()) : Note("recompute", turn(), at) {}

 private:
  static const char* turn() {
    static unsigned scopes = 0;
    return __atomic_fetch_add(&scopes, 1, __ATOMIC_RELAXED) % 2 == 0 ? "0"
                                                                     : "1";
  }
};

// While a NoGrad lives, values that its thread makes have no history, and no
// gradient passes through them.
class NoGrad {
 public:
  NoGrad() { gt_no_grad(1); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { gt_no_grad(-1); }
};

}  // namespace gt::inline v1
