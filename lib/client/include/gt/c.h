// The C interface of libgt: a client that writes the lines of a gt program and
// reads its results. gt/gt.h is the C++ interface, which is made of this one
// alone; other languages can be bound to this file.
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

// In the order of the language's own list. f16 and bf16 are 16 bits wide, bool
// is one byte, 0 or 1.
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

// Where in the user's source a line comes from; it stands in the stream as
// #at=FILE:LINE. Of the file's path the last part is written. `file` may be
// NULL: then the line has no such note.
typedef struct gt_place {
  const char* file;
  uint32_t line;
} gt_place;

// ---- errors --------------------------------------------------------------

typedef enum gt_fault {
  GT_NONE,
  GT_WRONG,   // the call: shapes, dtypes, an option, a name
  GT_FAILED,  // the value could not be computed: its line failed when it ran
  GT_LOST,    // the pipeline ended, was cut short, or cannot be started
  GT_FILE     // a file, or memory for one
} gt_fault;

// What went wrong last in this thread; "" and GT_NONE if nothing has. The text
// is valid until the thread's next call.
GT_API const char* gt_error(void);
GT_API gt_fault gt_error_fault(void);
// The text with the place of the call before it, "model.cc:42: ", as valid.
GT_API const char* gt_error_at(gt_place at);
// Of what a layer above this one finds wrong, so that it is told as the rest:
// sets both, the text as printf() would write it.
GT_API void gt_set_error(gt_fault fault, const char* format, ...)
    GT_PRINTF(2, 3);

// ---- sessions ------------------------------------------------------------

// Opens a session. `where` says what runs its program:
//   ""         gt-emit | [gt-shard -c $GT_CONFIG |] gt-route -n $GT_WORKERS,
//              which the session starts and ends; without GT_WORKERS gt-work
//              stands for gt-route, which one worker does not need
//   "-"        nobody: gt-emit writes the stream to standard output, for the
//              rest of a shell's pipeline; results are read from $GT_BACK
//   "tcp://HOST:PORT", "ipc://PATH"
//              the cluster whose gt-emit listens there (gt-clients(7))
// NULL means $GT_CONNECT.
GT_API gt_session* gt_open(const char* where);

// The session that a process has one of. It is opened as gt_open(NULL) when it
// is first asked for, and closed when the process exits.
GT_API gt_session* gt_session_default(void);

// Ends the program: waits for all results, and for the processes that the
// session started. `status`, unless NULL, gets the exit status that the
// pipeline ended with. The session's values stay valid, to be released, but
// hold nothing. A session may be closed once.
GT_API int gt_close(gt_session* session, int* status);

// Whether it takes lines: 0 once it is closed, and in a process that forked.
// Takes no lock, so a debugger may call it.
GT_API int gt_is_open(gt_session* session);

// Waits until everything written so far has run and has been printed.
GT_API int gt_sync(gt_session* session);

// ---- values --------------------------------------------------------------

// A value lives until it was released as often as it was made and retained;
// then its register is freed.
GT_API gt_value* gt_retain(gt_value* value);
GT_API void gt_release(gt_value* value);

// Its type now, which a call that binds its name again may change.
GT_API const gt_type* gt_type_of(const gt_value* value);
// Its name in the stream, valid until it is renamed.
GT_API const char* gt_name_of(const gt_value* value);
// Gives it this name: writes NAME = copy OLD, and OLD is freed.
GT_API int gt_rename(gt_value* value, const char* name, gt_place at);
GT_API gt_session* gt_session_of(const gt_value* value);

// ---- lines ---------------------------------------------------------------

typedef enum gt_word_kind {
  GT_VALUE,    // .value
  GT_INTEGER,  // .integer
  GT_NUMBER,   // .number, written with the digits that a double needs
  GT_SINGLE,   // .number, written with those that a float needs
  GT_TEXT,     // .text, as the language has it: "f32[2,3]", "0:4", "true"
  GT_STRING,   // .text, which is quoted: a path, a message
  GT_LIST,     // .list of .size integers: "1,2"
  GT_TYPE      // .type: "f32[2,3]"
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
  size_t size;  // of text in bytes, of a list in integers
} gt_word;

typedef struct gt_key {
  const char* name;
  gt_word value;
} gt_key;

// One instruction: RESULTS = OP OPERANDS KEYS. Operands are written in their
// order.
typedef struct gt_instruction {
  const char* op;
  const gt_word* operands;
  size_t operand_count;
  const gt_key* keys;
  size_t key_count;
  size_t result_count;
  // Result i is bound to the name of this value, which then holds the result;
  // NULL, or NULL for an i, gives it a name of its own.
  gt_value* const* into;
  // Result i has this name; NULL, or NULL for an i: one that the session
  // chooses.
  const char* const* names;
  gt_place at;
} gt_instruction;

// Writes the line, once its op, operands, keys and types are found to be right.
// results[i] becomes a value that the caller owns; where the line binds the
// name of a value again it becomes that value, not retained. `results` may be
// NULL where the line makes no value of its own. Of a failure nothing was
// written.
GT_API int gt_call(gt_session* session, const gt_instruction* line,
                   gt_value** results);

// Writes a line as it stands: a comment, a mesh, or an instruction whose names
// the session then knows nothing of.
GT_API int gt_line(gt_session* session, const char* text);

// Lines of this thread carry the note #KEY=VALUE (#KEY for a value of NULL)
// from now on, until gt_note_end() of the number, 0 or more, that it returns,
// or -1. Notes of one key nest: of #signal the
// values are joined by "/", of others the innermost counts.
GT_API int gt_note_begin(const char* key, const char* value);
GT_API void gt_note_end(int number);

// ---- data ----------------------------------------------------------------

// The type as the language has it, "f32[2,3]"; valid until the thread asks for
// another.
GT_API const char* gt_type_text(const gt_type* type);
// Bytes of so many values of the type.
GT_API size_t gt_bytes_of(const gt_type* type);

// A value from memory: gt_bytes_of() bytes, row-major. They are copied before
// the call returns. Up to 1,000 values are written as numbers, more travel
// beside the text.
GT_API gt_value* gt_write(gt_session* session, const gt_type* type,
                          const void* bytes, const char* name, gt_place at);

// Waits for the value and copies its bytes, gt_bytes_of() its type of them,
// row-major. Fails with GT_FAILED if it could not be computed.
GT_API int gt_read(gt_value* value, void* bytes, gt_place at);

// Has the value printed as a line on standard output when it is there, under
// the name `as` (NULL: its own).
GT_API int gt_print(gt_value* value, const char* as, gt_place at);

// The type of a tensor in a .npy or safetensors file, "FILE:TENSOR", as load
// takes it: what the session last saved there, else what the file has. `sizes`
// has room for 8. Of a file that lies on a cluster nothing is known here, but
// for one that the session has saved, sent or fetched.
GT_API int gt_stored_type(gt_session* session, const char* path, gt_type* type,
                          int64_t* sizes);

// Files that lines load are those that the workers see: on a cluster, those of
// the user there. A file of this process's is stored there under the same path,
// before lines that load it are written, and one that lines have saved is
// copied here once they have run. Where the program runs on this machine, both
// are seen without this. The path is relative, and has no "..".
GT_API int gt_send_file(gt_session* session, const char* path);
GT_API int gt_fetch_file(gt_session* session, const char* path);

// ---- gradients -----------------------------------------------------------

// Whether backward gives the value a gradient. It must hold floats, and be the
// result of no call that such a value went into.
GT_API int gt_require_grad(gt_value* value, int is_on);
GT_API int gt_requires_grad(const gt_value* value);
// Whether a value that requires a gradient went into it.
GT_API int gt_reaches_grad(const gt_value* value);
// Adds to the gradient of every value that requires one and went into this
// scalar. The history behind it is then gone, unless `retain`.
GT_API int gt_backward(gt_value* loss, int retain, gt_place at);
// The gradient, not retained; NULL if there is none.
GT_API gt_value* gt_gradient(const gt_value* value);
// Replaces it by another of the value's type (retained; not taken if this
// fails), or by none: NULL.
GT_API int gt_set_gradient(gt_value* value, gt_value* gradient);
// While the count of this thread is above 0, what calls make has no history.
// Returns the count after `by` was added to it.
GT_API int gt_no_grad(int by);

// ---- for people ----------------------------------------------------------

// Also writes the stream, as the session writes it to gt-emit, to a file from
// now on; "" or NULL ends that. If the file cannot be written, gt_sync(),
// gt_close(), which has closed the session then, and the next gt_log_to() fail
// with GT_FILE.
GT_API int gt_log_to(gt_session* session, const char* path);
// The history behind a value, which a gradient would walk, as lines of a
// program, the oldest first, each with the type of its result; and the same as
// a graph for Graphviz. It waits until what was written has run. The text is
// valid until the thread asks for another.
GT_API const char* gt_tape(gt_value* value);
GT_API const char* gt_dot(gt_value* value);
GT_API const char* gt_version(void);

#ifdef __cplusplus
}
#endif

#endif
