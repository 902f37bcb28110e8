#include <gtest/gtest.h>

#include <filesystem>

#include "file/json.h"
#include "file/safetensors.h"

namespace gt {
namespace {

std::string entry(const std::string& name, const std::string& dtype,
                  const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + offsets + "]}";
}

std::string message_of(const std::string& json, size_t bytes) {
  const auto header = parse_safetensors(json, bytes);
  return header.ok() ? "" : header.error().message;
}

TEST(Safetensors, ReadsAHeader) {
  const std::string json = "{ \"__metadata__\" : {\"format\":\"pt\"},\n" +
                           entry("b", "BF16", "2", "24,28") + "," +
                           entry("a.w", "F32", "2,3", "0,24") + "," +
                           entry("s", "I64", "", "28,36") + "," +
                           entry("none", "F8_E4M3", "5,0", "36,36") + "}   ";
  const auto header = parse_safetensors(json, 36);
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header.value().metadata, "{\"format\":\"pt\"}");
  EXPECT_EQ(header.value().tensors.size(), 4U);
  EXPECT_EQ(header.value().tensors[0].name, "a.w");
  const auto a = header.value().stored("a.w");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(to_string(a.value().type), "f32[2,3]");
  EXPECT_EQ(a.value().data_offset, 8 + json.size());
  EXPECT_EQ(to_string(header.value().stored("s").value().type), "i64[]");
  EXPECT_EQ(header.value().stored("s").value().data_offset,
            8 + json.size() + 28);
}

TEST(Safetensors, IsReadAsItIsWritten) {
  SafetensorsHeader header;
  header.metadata = "{\"k\":\"v\"}";
  size_t at = 0;
  for (const char* text : {"f64[2]", "i64[]", "f32[3]", "i32[0,7]", "f16[1]",
                           "bf16[2]", "u8[3]", "bool[1,1,1,1,1,1,1,1]"}) {
    const Type type = parse_type(text).value();
    SafetensorsEntry e =
        safetensors_entry("\"\\\n\x01\xc3\xa9" + to_string(type), type);
    e.begin = at;
    at += type.bytes();
    e.end = at;
    header.tensors.push_back(e);
  }
  const std::string bytes = safetensors_header(header);
  EXPECT_EQ(bytes.size() % 8, 0U);
  const auto back = parse_safetensors(std::string_view(bytes).substr(8), at);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back.value().metadata, header.metadata);
  for (const SafetensorsEntry& e : header.tensors) {
    const auto stored = back.value().stored(e.name);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
    EXPECT_EQ(stored.value().data_offset, bytes.size() + e.begin);
    EXPECT_TRUE(e.name.ends_with(to_string(stored.value().type)));
  }
}

TEST(Safetensors, RefusesWhatItCannotRead) {
  const std::string one = entry("a", "F32", "2", "0,8");
  const struct {
    std::string json;
    std::string message;
  } cases[] = {
      {"", "is not a safetensors file"},
      {"[]", "is not a safetensors file"},
      {"{", "has a malformed header: no name of a tensor"},
      {"{" + one, "has a malformed header: no end of it"},
      {"{" + one + ",}", "has a malformed header: no name of a tensor"},
      {"{" + one + "}x", "has a malformed header: text after its end"},
      {"{" + one + "," + entry("a", "F32", "0", "8,8") + "}",
       "has a malformed header: tensor 'a' stands twice"},
      {"{\"a\":1}", "has a malformed header: tensor 'a' is no object"},
      {"{\"a\":{}}", "has a malformed header: tensor 'a' has no key"},
      {"{\"a\":{\"dtype\":\"F32\"}}",
       "has a malformed header: tensor 'a' lacks dtype, shape or data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}",
       "has a malformed header: tensor 'a' has dtype twice"},
      {"{\"a\":{\"type\":\"F32\"}}",
       "has a malformed header: tensor 'a' has an unknown key 'type'"},
      {"{\"__metadata__\":{\"a\":1}}",
       "has a malformed header: __metadata__ is no map of strings"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}",
       "has a malformed header: __metadata__ twice"},
      {"{" + entry("a", "F32", "-2", "0,8") + "}",
       "has a malformed header: tensor 'a' has a bad shape"},
      {"{" + entry("a", "F32", "2.0", "0,8") + "}",
       "has a malformed header: tensor 'a' has a bad shape"},
      {"{" + entry("a", "F32", "02", "0,8") + "}",
       "has a malformed header: tensor 'a' has a bad shape"},
      {"{" + entry("a", "F32", "2", "8,0") + "}",
       "has a malformed header: tensor 'a' has a bad data_offsets"},
      {"{" + entry("a", "F32", "2", "0,8,8") + "}",
       "has a malformed header: tensor 'a' has a bad data_offsets"},
      {"{" + entry("a", "F32", "2", "0,18446744073709551616") + "}",
       "has a malformed header: tensor 'a' has a bad data_offsets"},
      {"{" + entry("a", "F32", "3", "0,8") + "}",
       "has a malformed header: tensor 'a' takes 12 bytes by its shape, 8 by "
       "its offsets"},
      {"{" + entry("a", "F32", "4611686018427387904,4", "0,8") + "}",
       "has a malformed header: tensor 'a' has too great a shape"},
      {"{" + entry("a", "F4", "3", "0,2") + "}",
       "has a malformed header: tensor 'a' ends within a byte"},
      {"{" + one + "," + entry("b", "U8", "4", "4,8") + "}",
       "has a malformed header: tensor 'b' overlaps another"},
      {"{" + entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "4", "4,8") +
           "}",
       "has a malformed header: bytes in front of tensor 'b' belong to none"},
      {"{" + entry("a", "F32", "4", "0,16") + "}",
       "is cut short: its tensors take 16 bytes after the header, it has 8"},
      {"{" + entry("a", "F32", "1", "0,4") + "}",
       "is too long: its tensors take 4 bytes after the header, it has 8"},
      {"{" + entry("a\xff", "F32", "2", "0,8") + "}",
       "has a malformed header: no name of a tensor"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(message_of(c.json, 8), c.message) << c.json;
  }
}

TEST(Safetensors, NamesWhatATensorCannotBe) {
  const std::string json =
      "{" + entry("layer.0.weight", "F8_E4M3", "2", "0,2") + "," +
      entry("deep", "U8", "1,1,1,1,1,1,1,1,1", "2,3") + "," +
      entry("new", "F2", "5", "3,4") + "," +
      entry("wide", "U8", "0,9223372036854775807,9", "4,4") + "}";
  const auto header = parse_safetensors(json, 4);
  ASSERT_TRUE(header.ok()) << header.error().message;
  const auto message = [&header](const char* name) {
    return header.value().stored(name).error().message;
  };
  EXPECT_EQ(message("layer.0.weigth"),
            "has no tensor 'layer.0.weigth'; did you mean 'layer.0.weight'?");
  EXPECT_EQ(message("layer.0.weight"),
            "holds tensor 'layer.0.weight' as F8_E4M3, none of gt's dtypes; "
            "convert it to one");
  EXPECT_EQ(message("deep"), "holds tensor 'deep' with more than 8 dimensions");
  EXPECT_EQ(message("new"),
            "holds tensor 'new' as F2, none of gt's dtypes; convert it to one");
  EXPECT_EQ(message("wide"), "holds tensor 'wide' with too great a shape");
}

TEST(Json, ResolvesEscapes) {
  const auto text = [](std::string_view json) {
    JsonReader in(json);
    std::string out;
    return in.take_string(out) && in.at_end() ? out : "refused";
  };
  EXPECT_EQ(text(" \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\" "), "a\"\\/\b\f\n\r\t");
  EXPECT_EQ(text("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\""),
            "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(text("\"\xf0\x9f\x98\x80\""), "\xf0\x9f\x98\x80");
  for (const char* bad :
       {"\"", "\"\\\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\udc00\"", "\"\\x41\"", "\"\n\"", "\"\xc3\"", "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\\u+123\"", "a"}) {
    EXPECT_EQ(text(bad), "refused") << bad;
  }
  const std::string odd = "\"\\\x01\x1f\xc3\xa9";
  EXPECT_EQ(text(json_quote(odd)), odd);
}

TEST(StoredPath, EndsTheFileAtItsLastSuffix) {
  const auto parts = [](std::string_view path) {
    const StoredPath p = split_path(path);
    return p.file + "|" + p.tensor + (p.in_safetensors ? "|s" : "");
  };
  EXPECT_EQ(parts("a/b.npy"), "a/b.npy|");
  EXPECT_EQ(parts("a:b.npy"), "a:b.npy|");
  EXPECT_EQ(parts("a.safetensors"), "a.safetensors||s");
  EXPECT_EQ(parts("a.safetensors:"), "a.safetensors||s");
  EXPECT_EQ(parts("a.safetensors:x/y.z:w"), "a.safetensors|x/y.z:w|s");
  EXPECT_EQ(parts("a.safetensors:b.safetensors:w"),
            "a.safetensors:b.safetensors|w|s");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(normal_path("./a//b/../c.safetensors:../w"),
            here + "/a/c.safetensors:../w");
  EXPECT_EQ(normal_path("./a/../b.npy"), here + "/b.npy");
}

}  // namespace
}  // namespace gt
