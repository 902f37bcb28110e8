// What a worker makes of lines: values, failures, their order, and how much it
// decodes and prepares.
#include "exec/worker/worker.h"

#include <gtest/gtest.h>

#include "exec_harness.h"

namespace gt::exec {
namespace {

// The reference backend, which counts what it prepares and allocates.
class CountingBackend final : public Backend, private Device {
 public:
  std::string_view name() const override { return "counting"; }
  Device& device() override { return *this; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto kernel = ref_->prepare(call);
    if (kernel != nullptr) ++prepared;
    return kernel;
  }

  int prepared = 0;
  int allocated = 0;
  size_t most_bytes = size_t{1} << 40;

 private:
  void* allocate(size_t bytes) override {
    ++allocated;
    return bytes > most_bytes ? nullptr : ref_->device().allocate(bytes);
  }
  void release(void* data, size_t bytes) override {
    ref_->device().release(data, bytes);
  }
  bool is_host() const override { return true; }
  Status upload(const void* host, void* data, size_t bytes) override {
    return ref_->device().upload(host, data, bytes);
  }
  Status download(const void* data, void* host, size_t bytes) override {
    return ref_->device().download(data, host, bytes);
  }
  Status copy(const void* from, void* to, size_t bytes) override {
    return ref_->device().copy(from, to, bytes);
  }

  std::unique_ptr<Backend> ref_ = std::move(make_backend("ref", {}).value());
};

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Worker, PrintsInProgramOrder) {
  const Outcome r = run_text(
      "x = tensor f32[2] 1 0.1\nprint x\ny = add x x\nprint y as=z\n"
      "x = tensor bool[2] true false\nprint x\n");
  EXPECT_EQ(r.out,
            "x = tensor f32[2] 1 0.1\nz = tensor f32[2] 2 0.2\n"
            "x = tensor bool[2] 1 0\n");
  EXPECT_EQ(r.messages, "");
  EXPECT_EQ(r.status, Exit::kDone);
}

TEST(Worker, ArangeOfIntegersIsExactAndFits) {
  const Outcome r = run_text(
      "x = arange i64[2] 9007199254740993\nprint x\n"
      "x = arange i32[2] 2147483647\nprint x\n"
      "x = arange u8[2] -1\nprint x\nx = arange u8[2] 255 1\nprint x\n");
  EXPECT_EQ(r.out,
            "x = tensor i64[2] 9007199254740993 9007199254740994\n"
            "x = fail \"t:3: arange: the last of 2 elements from 2147483647 in "
            "steps of 1 does not fit into i32\"\n"
            "x = fail \"t:5: arange: -1 does not fit into u8\"\n"
            "x = fail \"t:7: arange: the last of 2 elements from 255 in steps "
            "of 1 does not fit into u8\"\n");
}

TEST(Worker, DecodesARepeatedLineTwiceAtMost) {
  const Outcome r =
      run_text("x = tensor f32[] 0\n" +
               repeat("x = add x 1 #note=1\n# remark\n", 1000) + "print x\n");
  EXPECT_EQ(r.out, "x = tensor f32[] 1000\n");
  EXPECT_LE(r.stats.decoded, 4U);
}

TEST(Worker, NumbersAndNamesShareKernels) {
  CountingBackend backend;
  std::string text = "x = tensor f32[2] 1 2\n";
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    text += "y" + n + " = mul x " + n + ".5\n";
  }
  const Outcome r = run_text(backend, text + "print y99\n");
  EXPECT_EQ(r.out, "y99 = tensor f32[2] 99.5 199\n");
  EXPECT_EQ(backend.prepared, 2);
}

TEST(Worker, AnIntegerIsNotTheSameHoleAsAFloat) {
  const Outcome r = run_text(
      "x = tensor i64[] 7\ny = mul x 2\nprint y\ny = mul x 2.0\nprint y\n"
      "y = mul x 3\nprint y\ny = mul x 0.5\nprint y\n");
  EXPECT_EQ(r.out,
            "y = tensor i64[] 14\ny = tensor f32[] 14\ny = tensor i64[] 21\n"
            "y = tensor f32[] 3.5\n");
}

TEST(Worker, AKeptLineIsValidWhileTypesHold) {
  const std::string body = "y = add x x\nprint y\n";
  const Outcome r = run_text("x = tensor f32[] 1\n" + repeat(body, 3) +
                             "x = tensor i64[2] 1 2\n" + repeat(body, 3) +
                             "free x\n" + body + "x = tensor f32[] 4\n" + body);
  EXPECT_EQ(r.out, repeat("y = tensor f32[] 2\n", 3) +
                       repeat("y = tensor i64[2] 2 4\n", 3) +
                       "y = fail \"t:16: add: unknown name 'x'\"\n"
                       "y = tensor f32[] 8\n");
  EXPECT_EQ(r.status, Exit::kRejected);
}

TEST(Worker, TheSameBitsWithoutTables) {
  const std::string text =
      "x = rand f32[8,8] 3\ny = rand f32[8,8] 4\n" +
      repeat("z = matmul x y\nz = softmax z\nx = sub x z\nx = mul x 0.5\n",
             20) +
      "print x\nprint z\n";
  WorkerOptions plain;
  plain.caches = false;
  const Outcome with = run_text(text);
  const Outcome without = run_text(text, plain);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(without.stats.decoded, without.stats.lines);
}

TEST(Worker, AFailureSpreadsAndIsSaidOnce) {
  const Outcome r = run_text(
      "x = tensor i64[] 0\ny = mod x x #at=model.gt:7\nz = add y 1\n"
      "w = add z x\nprint w\nprint x\ny = tensor f32[] 1\nprint y\n");
  EXPECT_EQ(r.out,
            "w = fail \"model.gt:7: mod: integer division by zero\"\n"
            "x = tensor i64[] 0\ny = tensor f32[] 1\n");
  EXPECT_EQ(r.messages,
            "gt-work: model.gt:7: mod: integer division by zero\n"
            "  y = mod x x\n      ^\n");
  EXPECT_EQ(r.status, Exit::kFailed);
}

TEST(Worker, MemoryOfAFailureIsGoodAgain) {
  const Outcome r = run_text(
      "x = tensor i64[] 0\n" +
      repeat("y = mod x x\nfree y\nz = add x 1\nprint z\nfree z\n", 3));
  EXPECT_EQ(r.out, repeat("z = tensor i64[] 1\n", 3));
}

TEST(Worker, ARejectedLineFailsItsResults) {
  const Outcome r = run_text(
      "x = tensor f32[2] 1 2\ny = matmul x q\nz = relu y\nprint z\n"
      "print nothing\na b = foo\nprint a\nc = add x \"\n");
  EXPECT_EQ(r.out,
            "z = fail \"t:2: matmul: unknown name 'q'\"\n"
            "nothing = fail \"t:5: print: unknown name 'nothing'\"\n"
            "a = fail \"t:6: unknown op 'foo'; a second name for a value is "
            "made by copy: a = copy foo\"\n");
  EXPECT_EQ(r.status, Exit::kRejected);
}

TEST(Worker, AFailValueIsItsMessage) {
  const Outcome r = run_text(
      "x = fail \"m.gt:1: why\"\ny = relu x\nprint y\nfree x y\nprint y\n");
  EXPECT_EQ(r.out,
            "y = fail \"m.gt:1: why\"\n"
            "y = fail \"t:5: print: unknown name 'y'\"\n");
}

TEST(Worker, StopsAtTheFirstFailureWhenTold) {
  WorkerOptions options;
  options.fail_fast = true;
  const Outcome r = run_text(
      "x = tensor i64[] 0\nprint x\ny = mod x x\nprint x\nfoo\n", options);
  EXPECT_EQ(r.out, "x = tensor i64[] 0\n");
  EXPECT_EQ(r.status, Exit::kFailed);
}

TEST(Worker, AliasesShareMemoryAndKeepTheirValues) {
  const Outcome r = run_text(
      "x = tensor f32[2,2] 1 2 3 4\ny = reshape x shape=4\nz = copy x\n"
      "x = add x 1\nprint x\nprint y\nfree x\nprint z\ny = add y y\nprint z\n");
  EXPECT_EQ(r.out,
            "x = tensor f32[2,2] 2 3 4 5\ny = tensor f32[4] 1 2 3 4\n"
            "z = tensor f32[2,2] 1 2 3 4\nz = tensor f32[2,2] 1 2 3 4\n");
}

TEST(Worker, ALoopNeedsNoNewMemory) {
  CountingBackend backend;
  const std::string body =
      "y = matmul x x\ny = softmax y\nz = sub x y\nx = mul z 0.5\nfree y z\n";
  const std::string start = "x = rand f32[64,64] 1\n";
  run_text(backend, start + repeat(body, 2));
  const int few = backend.allocated;
  run_text(backend, start + repeat(body, 200));
  EXPECT_EQ(backend.allocated, 2 * few);
}

TEST(Worker, OutOfMemoryFailsTheLineAlone) {
  WorkerOptions options;
  options.memory = 10'000;
  const Outcome r = run_text(
      "x = ones f32[1024]\ny = ones f32[2048]\nprint y\nz = sum x\nprint z\n",
      options);
  EXPECT_EQ(r.out,
            "y = fail \"t:2: ones: out of memory: f32[2048] needs 8 KiB, 4 KiB "
            "of 9.8 KiB in use\"\nz = tensor f32[] 1024\n");
  EXPECT_EQ(r.status, Exit::kFailed);
}

TEST(Worker, MemoryThatTheMachineLacksIsAFailureToo) {
  CountingBackend backend;
  backend.most_bytes = 1 << 20;
  const Outcome r = run_text(
      backend, "x = ones f32[1024,1024]\ny = ones f32[]\nprint x\nprint y\n");
  EXPECT_EQ(r.out,
            "x = fail \"t:1: ones: out of memory: f32[1024,1024] needs 4 MiB, "
            "0 bytes in use\"\ny = tensor f32[] 1\n");
}

TEST(Worker, ABlankMustStandBeforeNotes) {
  const std::string line = "y = add x x\n";
  const Outcome r = run_text("x = tensor f32[] 1\n" + repeat(line, 3) +
                             "y = add x x#bad\nprint y\n" + line +
                             "y = add x x #1\nprint y\n" + line +
                             "y = add x x #good\nprint y\n");
  EXPECT_EQ(r.status, Exit::kRejected);
  EXPECT_NE(r.out.find("y = fail \"t:5:"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("y = fail \"t:8:"), std::string::npos) << r.out;
  EXPECT_TRUE(r.out.ends_with("y = tensor f32[] 2\n")) << r.out;
}

TEST(Worker, AKeptLineStandsWhereItsNotesSay) {
  const std::string line = "y = mod x x";
  const Outcome r = run_text("x = tensor i64[] 0\n" + line + " #at=a:1\n" +
                             line + " #at=a:1\n" + line + " #at=a:1\n" + line +
                             " #at=b:2\nprint y\n" + line + "\nprint y\n");
  EXPECT_EQ(r.out,
            "y = fail \"b:2: mod: integer division by zero\"\n"
            "y = fail \"t:7: mod: integer division by zero\"\n");
}

TEST(Worker, AKeptLineMayMoveFromLineToLine) {
  std::string text = "x = tensor i64[] 0\n";
  for (const char* notes :
       {"#a #at=m.gt:1", "#a #at=m.gt:2", "#a #at=m.gt:13", "#b #at=m.gt:4",
        "#at=m.gt:5 #a", "#at=m.gt:6 #a", "#a #at=n.gt:7", "#a #at=n.gt:8x",
        "#a #at=n.gt:9 # 1"}) {
    text += std::string("y = mod x x ") + notes + "\nprint y\n";
  }
  std::string expected;
  for (const char* place : {"m.gt:1", "m.gt:2", "m.gt:13", "m.gt:4", "m.gt:5",
                            "m.gt:6", "n.gt:7", "n.gt:8x", "n.gt:9"}) {
    expected += std::string("y = fail \"") + place +
                ": mod: integer division by zero\"\n";
  }
  EXPECT_EQ(run_text(text).out, expected);
}

TEST(Worker, TakesALineWithThousandsOfOperands) {
  std::string text = "x = tensor f32[1] 1\ny = concat";
  for (int i = 0; i < 10'000; ++i) text += " x";
  const Outcome r = run_text(text + "\ns = sum y\nprint s\n");
  EXPECT_EQ(r.out, "s = tensor f32[] 10000\n");
}

TEST(Worker, TablesThatOverflowStartAfresh) {
  CountingBackend backend;
  std::string text = "k = tensor f32[3] 1 2 3\n";
  for (int i = 1; i < 20'000; ++i) {
    text +=
        "x = reshape k shape=3,1\nx = zeros u8[0," + std::to_string(i) + "]\n";
  }
  const Outcome r = run_text(text + "k = add k k\nprint k\n");
  EXPECT_EQ(r.out, "k = tensor f32[3] 2 4 6\n");
  EXPECT_EQ(r.status, Exit::kDone);
}

TEST(Worker, NullKnowsShapesAndCosts) {
  const auto backend = make_backend("null", {});
  ASSERT_TRUE(backend.ok());
  const Outcome r = run_text(
      *backend.value(),
      "x = randn f32[100000,100000] 1\ny = matmul x x\nz = sum y\nprint z\n"
      "l = load \"no such file\" f32[2]\nprint l\nw = matmul x z\n");
  EXPECT_EQ(r.out, "z = tensor f32[] 0\nl = tensor f32[2] 0 0\n");
  EXPECT_EQ(r.status, Exit::kRejected);
  EXPECT_GE(r.stats.flops, 2e15);
}

TEST(Worker, EveryPrintGivesALine) {
  const Outcome r = run_text(
      "x = tensor f32[] 1\nprint x as=\"a b\"\nprint 3\nprint\nprint x x\n"
      "print x as=y z=1\n");
  EXPECT_EQ(r.out,
            "x = fail \"t:2: print: as=\\\"a b\\\" is not a name to "
            "print under; choose letters, digits, '_', '.' and '/', a letter "
            "first\"\n"
            "print = fail \"t:3: print: expected a tensor's name, got number "
            "3\"\n"
            "print = fail \"t:4: print: takes 1 operand, got 0; usage: print x "
            "[as=] [split=] [shape=]\"\n"
            "x = fail \"t:5: print: takes 1 operand, got 2; usage: print x "
            "[as=] [split=] [shape=]\"\n"
            "y = fail \"t:6: print: no key 'z'; usage: print x "
            "[as=] [split=] [shape=]\"\n");
}

TEST(Worker, SaysWhatItDoesNotDo) {
  const Outcome r =
      run_text("x = tensor f32[] 1\ny@0-1 = copy x\ng = grad x x\nfree a*\n");
  EXPECT_NE(
      r.messages.find("'x' has no ranks, but other names of the line have"),
      std::string::npos);
  EXPECT_NE(r.messages.find("run this through gt-emit"), std::string::npos);
}

}  // namespace
}  // namespace gt::exec
