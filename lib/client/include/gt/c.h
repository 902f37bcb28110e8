// The C interface of libgt: a client that writes the lines of a gt program and
// reads its results. The C++ interface, gt/gt.h, uses nothing but this file;
// other languages can be bound to it.
//
// A session is one program: it starts the pipeline that runs it (or joins one),
// writes a line for each gt_call(), and knows the type of every value without
// asking. A value is a register of that program. All functions may be called
// from any thread.
//
// A function that returns int returns 0, or -1 if it failed; one that returns a
// pointer returns NULL if it failed. gt_error() then says why. None throws.
#ifndef GT_C_H
#define GT_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GT_API
#else
#define GT_API __attribute__((visibility("default"), nothrow))
#endif

#if defined(__GNUC__)
#define GT_PRINTF(text, first) __attribute__((format(__printf__, text, first)))
#else
#define GT_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gt_session gt_session;
typedef struct gt_value gt_value;

// The dtypes of the language, in the order of its own list. f16 and bf16 are 16
// bits wide; a bool is one byte, 0 or 1.
typedef enum gt_dtype {
  GT_F32,
  GT_F64,
  GT_F16,
  GT_BF16,
  GT_I64,
  GT_I32,
  GT_U8,
  GT_BOOL
} gt_dtype;

// The type of a value. `sizes` has `rank` sizes, outermost first.
typedef struct gt_type {
  gt_dtype dtype;
  int32_t rank;
  const int64_t* sizes;
} gt_type;

// The place in the user's source that a line comes from. The line carries it as
// the note #at=FILE:LINE, in which FILE is the last part of the path `file`. If
// `file` is NULL, the line has no such note.
typedef struct gt_place {
  const char* file;
  uint32_t line;
} gt_place;

// ---- errors --------------------------------------------------------------

// The kind of an error.
typedef enum gt_fault {
  GT_NONE,
  GT_WRONG,   // a wrong call: its shapes, dtypes, an option or a name
  GT_FAILED,  // the value could not be computed: its line failed when it ran
  GT_LOST,    // the pipeline ended, was cut short, or could not be started
  GT_FILE     // a file, or memory, could not be had
} gt_fault;

// The last error of this thread: its text and its kind; "" and GT_NONE if there
// was none. The text is valid until the thread's next call.
GT_API const char* gt_error(void);
GT_API gt_fault gt_error_fault(void);
// Returns the text of gt_error() with the place `at` before it: "model.cc:42:
// ...". It is valid until the thread's next call.
GT_API const char* gt_error_at(gt_place at);
// Sets this thread's last error, with a text formatted as by printf(). A layer
// above this one reports its own errors by it, so that its callers find them
// where they find all others.
GT_API void gt_set_error(gt_fault fault, const char* format, ...)
    GT_PRINTF(2, 3);

// ---- sessions ------------------------------------------------------------

// Opens a session. `where` says what runs the program:
//   ""         gt-emit | [gt-shard -c $GT_CONFIG |] gt-route -n $GT_WORKERS,
//              which the session starts and ends; without GT_WORKERS gt-work
//              stands for gt-route, which one worker does not need
//   "-"        nobody: gt-emit writes the stream to standard output, for the
//              rest of a shell's pipeline; results are read from $GT_BACK
//   "tcp://HOST:PORT", "ipc://PATH"
//              the cluster whose gt-emit listens there (gt-clients(7))
// NULL means $GT_CONNECT.
GT_API gt_session* gt_open(const char* where);

// Returns the process's default session. The first call opens it, as
// gt_open(NULL) does; it is closed when the process exits. If it fails then, as
// gt_close() does, the process says why, and ends with status 1 instead of 0.
GT_API gt_session* gt_session_default(void);

// Ends the program: waits for all its results, and for the processes that the
// session started. Sets *status, unless `status` is NULL, to the exit status of
// the pipeline. The session's values hold nothing then, but must still be
// released. A session can be closed once. Fails with GT_FAILED if a line has
// failed that no call has reported, as a save, and with GT_LOST if the pipeline
// ended badly; the session is closed all the same.
GT_API int gt_close(gt_session* session, int* status);
// Writes the last error of this thread to standard error, and lets the process
// end with status 1 instead of 0: for who cannot report a failing gt_close().
GT_API void gt_fail_at_exit(void);

// True if the session takes lines: it is not closed, and was not opened by the
// parent of a forked process. Takes no lock, so that a debugger may call it.
GT_API int gt_is_open(gt_session* session);

// Waits until every line written so far has run and its results have been
// printed. Fails with GT_FAILED if a line has failed that no call has reported.
GT_API int gt_sync(gt_session* session);

// ---- values --------------------------------------------------------------

// A value is made with one owner. gt_retain() adds an owner and returns the
// value; gt_release() takes one away, and the last one frees the value's
// register. Both accept NULL.
GT_API gt_value* gt_retain(gt_value* value);
GT_API void gt_release(gt_value* value);

// Returns the value's type, or NULL for NULL. It can change when a later call
// binds the value's name again.
GT_API const gt_type* gt_type_of(const gt_value* value);
// Returns the value's name in the stream, or "" for NULL; valid until the value
// is renamed.
GT_API const char* gt_name_of(const gt_value* value);
// Renames the value: writes NAME = copy OLD, after which OLD is freed.
GT_API int gt_rename(gt_value* value, const char* name, gt_place at);
// Returns the session of the value, or NULL for NULL.
GT_API gt_session* gt_session_of(const gt_value* value);

// ---- lines ---------------------------------------------------------------

// How a word is given in gt_word, and how it is written in the line.
typedef enum gt_word_kind {
  GT_VALUE,    // .value
  GT_INTEGER,  // .integer
  GT_NUMBER,   // .number, with the digits that a double needs
  GT_SINGLE,   // .number, with the digits that a float needs
  GT_TEXT,     // .text, in the language's form: "f32[2,3]", "0:4", "true"
  GT_STRING,   // .text, written in quotes: a path, a message
  GT_LIST,     // .list of .size integers: "1,2"
  GT_TYPE,     // .type: "f32[2,3]"
  GT_UNSIGNED  // .integer, whose bits are those of a uint64_t
} gt_word_kind;

// An operand of a line, or the value of a key.
typedef struct gt_word {
  gt_word_kind kind;
  union {
    gt_value* value;
    int64_t integer;
    double number;
    const char* text;
    const int64_t* list;
    const gt_type* type;
  };
  size_t size;  // bytes of text, or integers of list; else unused
} gt_word;

// A key of a line and its value: NAME=VALUE.
typedef struct gt_key {
  const char* name;
  gt_word value;
} gt_key;

// One instruction: RESULTS = OP OPERANDS KEYS. The operands are written in the
// given order.
typedef struct gt_instruction {
  const char* op;
  const gt_word* operands;
  size_t operand_count;
  const gt_key* keys;
  size_t key_count;
  size_t result_count;
  // For each result the value that is to hold it: the line binds that value's
  // name again. NULL for a new value; `into` itself may be NULL if all are new.
  gt_value* const* into;
  // For each new result its name. NULL or "" for a name that the session
  // chooses; `names` itself may be NULL if all names are chosen.
  const char* const* names;
  gt_place at;
} gt_instruction;

// Checks the instruction's op, operands, keys and types, and writes its line.
// Sets results[i] to the new value of result i, which the caller owns, or to
// into[i], which is not retained. `results` may be NULL if no result is a new
// value. If the call fails, nothing was written.
GT_API int gt_call(gt_session* session, const gt_instruction* line,
                   gt_value** results);

// Writes `text` as a line, unchanged: a comment, a mesh, or an instruction. The
// session knows nothing of the names that such an instruction binds.
GT_API int gt_line(gt_session* session, const char* text);

// Writes lines that save `count` values in a safetensors file, each under its
// name. The file is written with all of them or with none, whatever happens to
// this process. Does not wait. If the call fails, nothing was written.
GT_API int gt_save(gt_session* session, const char* path,
                   gt_value* const* values, const char* const* names,
                   size_t count, gt_place at);

// Opens a note: lines of this thread carry #KEY=VALUE (#KEY if `value` is NULL)
// from now on. Returns its number, 0 or more, by which gt_note_end() ends it,
// or -1; the value of "mb" must be a whole number from 0 up. Notes of one key
// nest: the values of #signal are joined by "/"; of other keys the innermost
// value counts.
GT_API int gt_note_begin(const char* key, const char* value);
GT_API void gt_note_end(int number);

// ---- data ----------------------------------------------------------------

// Returns the type as text, "f32[2,3]", or "" for NULL; valid until this thread
// asks for another.
GT_API const char* gt_type_text(const gt_type* type);
// Returns the size in bytes of a value of this type; 0 for NULL.
GT_API size_t gt_bytes_of(const gt_type* type);

// Makes a value from gt_bytes_of(type) bytes of memory, row-major. They are
// copied before the call returns. Up to 1,000 elements are written into the
// line as numbers; more travel in a file. `name` is the value's name; NULL or
// "" lets the session choose one.
GT_API gt_value* gt_write(gt_session* session, const gt_type* type,
                          const void* bytes, const char* name, gt_place at);

// Waits for the value and copies its elements to `bytes`, row-major:
// gt_bytes_of(its type) bytes. Fails with GT_FAILED if the value could not be
// computed.
GT_API int gt_read(gt_value* value, void* bytes, gt_place at);

// Has the value printed as a line on standard output once it is computed, under
// the name `as` (its own name if NULL). Does not wait.
GT_API int gt_print(gt_value* value, const char* as, gt_place at);

// Sets *type to the type of a tensor in a .npy or safetensors file, whose path,
// "FILE" or "FILE:TENSOR", is written as for the op load: the type that the
// session last saved there, else that of the file. `sizes` has room for 8
// sizes, and type->sizes is set to it. Of a file on a cluster the type is known
// only if this session has saved, sent or fetched it.
GT_API int gt_stored_type(gt_session* session, const char* path, gt_type* type,
                          int64_t* sizes);

// Copy a file to or from a cluster, where the lines load and save files of the
// user there. gt_send_file() stores a file of this process there, to be called
// before the lines that load it are written; gt_fetch_file() waits until
// everything has run, and copies a file that the lines saved to here. Both keep
// the path, which must be relative and have no "..". They do nothing where the
// program runs on this machine.
GT_API int gt_send_file(gt_session* session, const char* path);
GT_API int gt_fetch_file(gt_session* session, const char* path);

// ---- gradients -----------------------------------------------------------

// Says whether backward gives the value a gradient. The value must hold floats,
// and must not be computed from a value that requires a gradient.
GT_API int gt_require_grad(gt_value* value, int is_on);
// Returns whether the value requires a gradient; false for NULL.
GT_API int gt_requires_grad(const gt_value* value);
// True if the value was computed from a value that requires a gradient, or
// requires one itself; false for NULL.
GT_API int gt_reaches_grad(const gt_value* value);
// Computes the gradient of the scalar `loss` by every value that requires one
// and that it was computed from, and adds it to that value's gradient. Unless
// `retain`, the loss's history is gone then.
GT_API int gt_backward(gt_value* loss, int retain, gt_place at);
// Returns the value's gradient, not retained, or NULL if it has none or is
// NULL.
GT_API gt_value* gt_gradient(const gt_value* value);
// Replaces the value's gradient by `gradient`, which must have the value's
// type, or removes it if that is NULL. Takes over the caller's reference to
// `gradient`, unless it fails.
GT_API int gt_set_gradient(gt_value* value, gt_value* gradient);
// Adds `by` to this thread's count of no-grad scopes and returns the new count.
// While it is above 0, values that the thread's calls make have no history.
GT_API int gt_no_grad(int by);

// ---- for people ----------------------------------------------------------

// Also writes the stream, as the session writes it to gt-emit, to the file
// `path` from now on; "" or NULL ends that. If the file cannot be written,
// gt_sync(), gt_close() (which has closed the session all the same) and the
// next gt_log_to() fail with GT_FILE.
GT_API int gt_log_to(gt_session* session, const char* path);
// gt_tape() returns the history behind a value, which a gradient would walk, as
// lines of a program, the oldest first, each with the type of its result;
// gt_dot() returns it as a graph for Graphviz. Both wait until everything
// written has run. The text is valid until this thread asks for another.
GT_API const char* gt_tape(gt_value* value);
GT_API const char* gt_dot(gt_value* value);
GT_API const char* gt_version(void);

#ifdef __cplusplus
}
#endif

#endif
