#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "exec_harness.h"
#include "file/npy_write.h"

namespace gt {
using exec::Outcome;
using exec::run_text;
namespace {

namespace fs = std::filesystem;

std::string header_of(const std::string& dict, char major = 1) {
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  size_t length = dict.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, length >>= 8) {
    out += static_cast<char>(length & 0xff);
  }
  return out + dict;
}

std::string header_of(const std::string& descr, bool fortran,
                      const std::string& shape, char major = 1) {
  return header_of("{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': (" + shape + "), }\n",
                   major);
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

class NpyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gt-npy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string& name) const {
    return (folder / name).string();
  }
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string load(const std::string& file, const std::string& rest) const {
    return run_text("x = load \"" + file + "\" " + rest + "\nprint x\n").out;
  }

  fs::path folder;
};

TEST(NpyHeader, IsReadAsItIsWritten) {
  for (const char* text :
       {"f32[]", "f64[3]", "f16[2,3]", "bf16[2]", "i64[1,2,3,4,5,6,7,8]",
        "i32[0,5]", "u8[7]", "bool[1]"}) {
    const Type type = parse_type(text).value();
    const std::string bytes = npy_header(type);
    EXPECT_EQ(bytes.size() % 64, 0U);
    const auto header = parse_npy_header(bytes);
    ASSERT_TRUE(header.ok()) << text << ": " << header.error().message;
    EXPECT_EQ(header.value().type, type);
    EXPECT_EQ(header.value().data_offset, bytes.size());
    EXPECT_FALSE(header.value().fortran_order);
  }
}

TEST(NpyHeader, KnowsThreeVersionsAndBothOrders) {
  for (const char major : {'\1', '\2', '\3'}) {
    const auto header = parse_npy_header(header_of(">i4", true, "3, 4", major));
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(to_string(header.value().type), "i32[3,4]");
    EXPECT_TRUE(header.value().fortran_order);
    EXPECT_TRUE(header.value().big_endian);
  }
  EXPECT_TRUE(
      parse_npy_header(header_of("{\"shape\":(3L,),\"fortran_order\":False,"
                                 "\"descr\":\"|b1\"}"))
          .ok());
}

TEST(NpyHeader, RefusesWhatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is not a .npy file"},
      {"PK\3\4", "is not a .npy file"},
      {"\x93NUMPY", "is cut short within its header"},
      {header_of("<f4", false, "3").substr(0, 30),
       "is cut short within its header"},
      {header_of("<f4", false, "3", 4), "has .npy version 4, which is unknown"},
      {header_of("|O", false, "3"),
       "holds Python objects, which are never unpickled"},
      {header_of("{'descr': [('a', '<f4')], 'fortran_order': False, "
                 "'shape': (3,), }"),
       "holds records with fields; save each field by itself"},
      {header_of("<c8", false, "3"),
       "has dtype '<c8', none of gt's; convert it in NumPy with astype"},
      {header_of("<f4", false, "1,1,1,1,1,1,1,1,1"),
       "has more than 8 dimensions"},
      {header_of("<f4", false, "-1"),
       "has a malformed header: a size is negative"},
      {header_of("<f4", false, "99999999999999999999"),
       "has a malformed header: a size is not a number"},
      {header_of("{'descr': '<f4'}"),
       "has a malformed header: descr, fortran_order or shape is missing"},
      {header_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), "
                 "'shape': (2,), }"),
       "has a malformed header: 'shape' comes twice"},
      {header_of("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, "
                 "'shape': (3,), }"),
       "has a malformed header: 'descr' comes twice"},
      {header_of("__import__('os')"), "has a malformed header: no dictionary"},
  };
  for (const auto& [bytes, message] : cases) {
    const auto header = parse_npy_header(bytes);
    ASSERT_FALSE(header.ok()) << message;
    EXPECT_EQ(header.error().message, message);
  }
  EXPECT_FALSE(
      parse_npy_header(header_of("<f4", false, "4294967296,4294967296")).ok());
  std::string huge = header_of("", 2);
  huge[11] = '\x7f';  // a header of 2 GiB
  EXPECT_FALSE(parse_npy_header(huge).ok());
}

TEST_F(NpyTest, LoadsRows) {
  const std::string file =
      put("a.npy", header_of("<f4", false, "3, 2") +
                       bytes_of<float>({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(load(file, "f32[3,2]"), "x = tensor f32[3,2] 0 1 2 3 4 5\n");
  EXPECT_EQ(load(file, "f32[2,2] 1"), "x = tensor f32[2,2] 2 3 4 5\n");
  EXPECT_EQ(load(file, "f32[0,2] 3"), "x = tensor f32[0,2]\n");
  EXPECT_EQ(run_text("i = tensor i32[] 2\nx = load \"" + file +
                     "\" f32[1,2] i\nprint x\n")
                .out,
            "x = tensor f32[1,2] 4 5\n");
}

TEST_F(NpyTest, LoadsFortranOrderAndForeignBytes) {
  // There are 4 rows of 2 by 3; the value of an element is its row-major index.
  std::vector<uint16_t> values;
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 4; ++i) {
        values.push_back(static_cast<uint16_t>(
            __builtin_bswap16(F16::from(float(i * 6 + j * 3 + k)).bits)));
      }
    }
  }
  const std::string file =
      put("f.npy", header_of(">f2", true, "4, 2, 3") + bytes_of(values));
  EXPECT_EQ(load(file, "f16[4,2,3]"),
            "x = tensor f16[4,2,3] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
            "18 19 20 21 22 23\n");
  EXPECT_EQ(load(file, "f16[2,2,3] 1"),
            "x = tensor f16[2,2,3] 6 7 8 9 10 11 12 13 14 15 16 17\n");
}

TEST_F(NpyTest, SaysWhyALoadFails) {
  const std::string whole =
      header_of("<i8", false, "4,") + bytes_of<int64_t>({1, 2, 3, 4});
  const std::string file = put("a.npy", whole);
  const auto message = [&](const std::string& f, const std::string& rest) {
    const std::string out = load(f, rest);
    const size_t at = out.find("load: ") + 6;
    return out.substr(at, out.rfind('"') - at);
  };
  EXPECT_EQ(message(file, "i64[4] 1"),
            file + " has 4 rows, not 4 from row 1 on");
  EXPECT_EQ(message(file, "i64[2,2]"), file + " holds i64[4], not i64[2,2]");
  EXPECT_EQ(message(file, "f32[4]"), file +
                                         " holds i64[4], not f32[4]; load "
                                         "it as i64 and cast");
  EXPECT_EQ(message(path("none"), "f32[4]"),
            path("none") + ": No such file or directory");
  EXPECT_EQ(message(folder.string(), "f32[4]"),
            folder.string() + " is not a regular file");
  EXPECT_EQ(message(put("b.npy", whole.substr(0, whole.size() - 1)), "i64[4]"),
            path("b.npy") +
                " is cut short: i64[4] takes 32 bytes after the "
                "header, it has 31");
}

TEST_F(NpyTest, ALoadSeesTheSaveBeforeIt) {
  const Outcome r = run_text("x = tensor bf16[2] 1.5 -0\nsave x \"" +
                             path("s.npy") + "\"\nx = load \"" + path("s.npy") +
                             "\" bf16[2]\nprint x\nx = tensor "
                             "f32[] 7\nsave x \"" +
                             path("s.npy") + "\"\ny = load \"" + path("s.npy") +
                             "\" f32[]\nprint y\n");
  EXPECT_EQ(r.out, "x = tensor bf16[2] 1.5 -0\ny = tensor f32[] 7\n");
  EXPECT_EQ(r.messages, "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(NpyTest, AFailedSaveLeavesThePathAsItWas) {
  const std::string file = put("old.npy", "old");
  const Outcome r = run_text("x = tensor i64[] 0\ny = mod x x\nsave y \"" +
                             file + "\"\nsave x \"" + path("no/such.npy") +
                             "\"\nsave x \"/dev/null\"\n");
  EXPECT_EQ(r.status, Exit::kFailed);
  EXPECT_EQ(fs::file_size(file), 3U);
  EXPECT_NE(r.messages.find("/dev/null: is not a regular file"),
            std::string::npos)
      << r.messages;
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(NpyTest, RootsHoldWhereverLinksLead) {
  fs::create_directory(folder / "in");
  fs::create_directory(folder / "input");
  const std::string outside = put("out.npy", npy_header({Dtype::kU8, {0}}));
  put("in/a.npy", npy_header({Dtype::kU8, {0}}));
  put("input/a.npy", npy_header({Dtype::kU8, {0}}));
  fs::create_symlink(outside, folder / "in" / "link.npy");
  fs::create_symlink(folder, folder / "in" / "up");
  fs::create_symlink(path("in/a.npy"), folder / "in" / "good.npy");
  const std::vector<std::string> roots = {path("in")};
  const auto load_below = [&](const std::string& name) {
    return run_text("x = load \"" + path(name) + "\" u8[0]\nprint x\n", {},
                    roots)
        .out;
  };
  const std::string good = "x = tensor u8[0]\n";
  EXPECT_EQ(load_below("in/a.npy"), good);
  EXPECT_EQ(load_below("in/good.npy"), good);
  EXPECT_EQ(load_below("in/../in/a.npy"), good);
  for (const char* name : {"out.npy", "in/../out.npy", "in/link.npy",
                           "in/up/out.npy", "input/a.npy"}) {
    EXPECT_NE(load_below(name).find("outside the directories"),
              std::string::npos)
        << name;
  }
  const Outcome r =
      run_text("x = zeros u8[0]\nsave x \"" + path("in/up/new.npy") +
                   "\"\nsave x \"" + path("in/new.npy") + "\"\n",
               {}, roots);
  EXPECT_FALSE(fs::exists(path("new.npy")));
  EXPECT_TRUE(fs::exists(path("in/new.npy")));
  EXPECT_EQ(r.status, Exit::kFailed);
}

}  // namespace
}  // namespace gt
