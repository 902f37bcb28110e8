#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "exec/storage/saves.h"
#include "exec_harness.h"
#include "file/safetensors.h"

namespace gt {
using exec::Outcome;
using exec::run_text;
namespace {

namespace fs = std::filesystem;

class SafetensorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gt-safe-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    file = (folder / "m.safetensors").string();
  }
  void TearDown() override { fs::remove_all(folder); }

  // In the text '@' stands for the file.
  Outcome run(std::string text) const {
    for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;) {
      text.replace(at, 1, file);
    }
    return run_text(text);
  }
  std::string bytes() const {
    std::ifstream in(file, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void put(const std::string& text) const {
    std::ofstream(file, std::ios::binary) << text;
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), {}));
  }

  fs::path folder;
  std::string file;
};

TEST_F(SafetensorsTest, ANewFileSaysItsFormatAndAnOldOneKeepsItsWords) {
  (void)run("x = ones f32[2]\nsave x \"@:x\"\n");
  EXPECT_EQ(bytes().substr(8, 34), R"({"__metadata__":{"format":"pt"},"x)");
  const std::string json =
      R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   )";
  put(std::string{static_cast<char>(json.size()), 0, 0, 0, 0, 0, 0, 0} + json +
      "w");
  (void)run("x = ones f32[2]\nsave x \"@:x\"\n");
  EXPECT_EQ(bytes().find("__metadata__"), std::string::npos);
}

TEST_F(SafetensorsTest, SavesAndLoadsEachDtype) {
  std::string text;
  std::string expected;
  for (const char* type :
       {"f32", "f64", "f16", "bf16", "i64", "i32", "u8", "bool"}) {
    const std::string t = type;
    const std::string value = " = tensor " + t + "[3] 1 0 1\n";
    text += "x" + value + "save x \"@:" + t + "\"\n";
    text += "y = load \"@:" + t + "\" " + t + "[3]\nprint y\n";
    expected += "y" + value;
  }
  const Outcome r = run(text);
  EXPECT_EQ(r.out, expected);
  EXPECT_EQ(r.messages, "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(SafetensorsTest, OneFileHoldsWhatManyRunsSaved) {
  EXPECT_EQ(run("x = tensor u8[3] 1 2 3\nsave x \"@:b\"\n"
                "x = tensor f64[2,2] 1 2 3 4\nsave x \"@:w\"\n")
                .messages,
            "");
  const Outcome r =
      run("x = tensor i32[1] 7\nsave x \"@:b\"\n"
          "b = load \"@:b\" i32[1]\nprint b\n"
          "w = load \"@:w\" f64[1,2] 1\nprint w\n");
  EXPECT_EQ(r.out, "b = tensor i32[1] 7\nw = tensor f64[1,2] 3 4\n");
  EXPECT_EQ(r.messages, "");
}

TEST_F(SafetensorsTest, TheBytesDoNotDependOnTheOrderOfSaves) {
  const std::string x = "x = tensor u8[3] 1 2 3\n";
  const std::string y = "y = tensor f32[2] 1 2\n";
  run(x + y + "save x \"@:a\"\nsave y \"@:b\"\nsave y \"@:aa\"\n");
  const std::string one = bytes();
  fs::remove(file);
  run(y + "save y \"@:aa\"\nsave y \"@:b\"\n");
  run(x + "save x \"@:a\"\n");
  EXPECT_EQ(bytes(), one);
  EXPECT_FALSE(one.empty());
}

TEST_F(SafetensorsTest, ALaterSaveOfATensorWins) {
  const Outcome r = run(
      "x = tensor f32[1] 1\nsave x \"@:a\"\nsave x \"@:b\"\n"
      "x = tensor f32[2] 2 3\nsave x \"@:a\"\n"
      "y = load \"@:a\" f32[2]\nprint y\ny = load \"@:b\" f32[1]\nprint y\n");
  EXPECT_EQ(r.out, "y = tensor f32[2] 2 3\ny = tensor f32[1] 1\n");
}

TEST_F(SafetensorsTest, KeepsWhatItDoesNotKnow) {
  const std::string json =
      "{\"__metadata__\":{\"format\":\"pt\"},\"q\":{\"dtype\":\"F8_E4M3\","
      "\"shape\":[2],\"data_offsets\":[0,2]}}";
  std::string head(8, '\0');
  head[0] = static_cast<char>(json.size());
  put(head + json + "\x38\x40");
  EXPECT_EQ(run("x = tensor u8[1] 1\nsave x \"@:x\"\n").messages, "");
  const std::string now = bytes();
  EXPECT_NE(now.find("{\"__metadata__\":{\"format\":\"pt\"},\"q\":{\"dtype\":"
                     "\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]},"),
            std::string::npos)
      << now;
  EXPECT_EQ(now.substr(now.size() - 3), "\x38\x40\x01");
}

TEST_F(SafetensorsTest, AFailedSaveLeavesTheFileAsItWas) {
  put("no such format");
  const Outcome r =
      run("x = tensor f32[1] 1\nsave x \"@:a\"\n"
          "y = load \"@:a\" f32[1]\nprint y\n");
  EXPECT_EQ(r.status, Exit::kFailed);
  EXPECT_NE(r.messages.find("t:2: save: " + file + " is not a safetensors"),
            std::string::npos)
      << r.messages;
  EXPECT_NE(r.out.find("was not saved"), std::string::npos) << r.out;
  EXPECT_EQ(bytes(), "no such format");
  EXPECT_EQ(files(), 1U);
}

TEST_F(SafetensorsTest, AFailedValueIsNotSaved) {
  run("x = tensor i64[] 5\nsave x \"@:a\"\n");
  const Outcome r =
      run("x = tensor i64[] 0\nsave x \"@:b\"\ny = mod x x\nsave y \"@:a\"\n"
          "z = load \"@:a\" i64[]\nprint z\nz = load \"@:b\" i64[]\nprint z\n");
  EXPECT_EQ(r.status, Exit::kFailed);
  EXPECT_NE(r.out.find("was not saved: t:3: mod: "), std::string::npos)
      << r.out;
  // What is saved beside it is not written either.
  EXPECT_NE(r.out.find(":b is not written, since "), std::string::npos)
      << r.out;
  EXPECT_EQ(run("z = load \"@:a\" i64[]\nprint z\n").out,
            "z = tensor i64[] 5\n");
  EXPECT_NE(run("z = load \"@:b\" i64[]\nprint z\n").out.find("no tensor"),
            std::string::npos);
}

// The save waits for others, and that its file cannot be written is found
// later.
TEST_F(SafetensorsTest, AWriteThatFailsLateIsToldByItsLine) {
  exec::Saves saves(Files::make({}).value());
  const Type type{Dtype::kF32, {1}};
  const float value = 1;
  for (const std::string name : {"a", "b"}) {
    exec::Saves::Order order;
    order.line.text = "save " + name;
    order.path = file + ":" + name;
    order.type = type;
    order.data = &value;
    saves.begin(saves.announce(order.path), order);
  }
  saves.read_all();
  EXPECT_EQ(saves.first_waiting(), 1U);
  EXPECT_EQ(files(), 0U);
  put("another program's");
  saves.settle();
  EXPECT_EQ(saves.first_waiting(), 1U);
  const auto failures = saves.take_failures();
  EXPECT_EQ(saves.first_waiting(), 3U);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].line.text, "save a");
  EXPECT_EQ(failures[1].line.text, "save b");
  EXPECT_NE(failures[0].why.find("is not a safetensors file"),
            std::string::npos);
  EXPECT_NE(saves.failures().of(file + ":a"), "");
  EXPECT_EQ(saves.failures().of(file + ":c"), "");
  EXPECT_EQ(bytes(), "another program's");
  EXPECT_EQ(files(), 1U);
}

TEST_F(SafetensorsTest, ManyFilesMayWait) {
  std::string text = "x = tensor u8[1] 1\n";
  for (int i = 0; i < 40; ++i) {
    text += "save x \"" + (folder / std::to_string(i)).string() +
            ".safetensors:x\"\n";
  }
  EXPECT_EQ(run(text).messages, "");
  EXPECT_EQ(files(), 40U);
}

TEST_F(SafetensorsTest, LoadSaysWhatIsWrong) {
  run("x = tensor f32[2,2] 1 2 3 4\nsave x \"@:blocks.0.w\"\n");
  const auto message = [this](const std::string& rest) {
    const std::string out = run("x = load \"@" + rest + "\nprint x\n").out;
    const size_t at = out.find("load: ") + 6;
    return out.substr(at, out.rfind('"') - at);
  };
  EXPECT_EQ(message(":blocks.1.w\" f32[2,2]"),
            file + " has no tensor 'blocks.1.w'; did you mean 'blocks.0.w'?");
  EXPECT_EQ(message(":blocks.0.w\" f16[2,2]"),
            file +
                ":blocks.0.w holds f32[2,2], not f16[2,2]; load it as f32 and "
                "cast");
  EXPECT_EQ(message(":blocks.0.w\" f32[2,2] 1"),
            file + ":blocks.0.w has 2 rows, not 2 from row 1 on");
}

}  // namespace
}  // namespace gt
