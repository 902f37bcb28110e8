// Keys as text, in files, and beside the name of a worker.
#include "net/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "net/roster.h"

namespace gt::net {
namespace {

class KeysTest : public ::testing::Test {
 protected:
  std::string file(const std::string& text, mode_t mode = 0600) {
    const std::string path = ::testing::TempDir() + "/gt-key";
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  const Keys keys_ = make_keys().value();
  const Keys other_ = make_keys().value();
};

TEST_F(KeysTest, ThePublicOneFollowsFromTheSecretOne) {
  EXPECT_TRUE(is_key(keys_.secret) && is_key(keys_.open));
  EXPECT_EQ(keys_of(keys_.secret).value().open, keys_.open);
  EXPECT_NE(keys_.open, other_.open);
  EXPECT_FALSE(keys_of("no key").ok());
  EXPECT_FALSE(is_key(keys_.open.substr(1)));
  EXPECT_FALSE(is_key(std::string(40, ' ')));
}

TEST_F(KeysTest, FilesHaveThemOneALine) {
  const auto two = read_open_keys(file("# people\n\n" + keys_.open +
                                       " ada's user=ada old\n  " + other_.open +
                                       " auser=x worker role=worker\n"));
  EXPECT_EQ(two.value(),
            (std::map<std::string, KeyHolder>{{keys_.open, {"ada", false}},
                                              {other_.open, {"", true}}}));
  const auto bad = read_open_keys(file(keys_.open + "\nnone\n"));
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("gt-key:2: expected a key"),
            std::string::npos);
  for (const char* user : {"ann", "www-data", "4", "_a.b-C"}) {
    EXPECT_TRUE(is_user_name(user)) << user;
    EXPECT_TRUE(read_open_keys(file(keys_.open + " user=" + user)).ok());
  }
  for (const char* user : {"", "..", ".a", "-a", "a/b", "../bob", "a\x01",
                           "a=b", "J\xc3\xb6rg", "a\\b"}) {
    EXPECT_FALSE(is_user_name(user)) << user;
    const auto wrong =
        read_open_keys(file(other_.open + "\n" + keys_.open + " user=" + user));
    ASSERT_FALSE(wrong.ok()) << user;
    EXPECT_NE(wrong.error().message.find("gt-key:2: user="), std::string::npos);
  }
  EXPECT_FALSE(is_user_name(std::string(65, 'a')));
  for (const std::string& twice :
       {keys_.open + " user=a user=b", keys_.open + "\n" + keys_.open}) {
    EXPECT_FALSE(read_open_keys(file(twice)).ok());
  }
  EXPECT_EQ(read_open_key(keys_.open).value(), keys_.open);
  EXPECT_EQ(read_open_key(file(keys_.open)).value(), keys_.open);
  EXPECT_FALSE(read_open_key(file("# none\n")).ok());
}

TEST_F(KeysTest, ASecretKeyIsNoPublicOne) {
  for (int i = 0; i < 100; ++i) {
    const Keys keys = make_keys().value();
    EXPECT_TRUE(is_secret(keys.secret));
    EXPECT_FALSE(is_secret(keys.open));
    // The bit that tells them apart has no part in the pair.
    EXPECT_EQ(keys_of(keys.secret).value().open, keys.open);
  }
  EXPECT_FALSE(is_secret("no key"));
  const auto list = read_open_keys(file(keys_.open + "\n" + other_.secret));
  ASSERT_FALSE(list.ok());
  EXPECT_NE(list.error().message.find("gt-key:2: this is a secret key"),
            std::string::npos);
  EXPECT_EQ(list.error().message.find(other_.secret), std::string::npos);
  EXPECT_FALSE(read_open_key(keys_.secret).ok());
  EXPECT_FALSE(read_open_key(file(keys_.secret)).ok());
}

// So no key is taken for a comment: # is Z85's last digit, and too large to
// begin with.
TEST_F(KeysTest, NoKeyBeginsAsCommentsDo) {
  EXPECT_TRUE(is_key("%" + std::string(39, '0')));
  EXPECT_FALSE(is_key("#" + std::string(39, '0')));
}

TEST_F(KeysTest, ASecretIsForItsOwnerAlone) {
  EXPECT_EQ(read_secret(file(keys_.secret)).value().open, keys_.open);
  for (const mode_t mode : {0640, 0604, 0620}) {
    EXPECT_FALSE(read_secret(file(keys_.secret, mode)).ok());
  }
}

TEST_F(KeysTest, AListIsReadAgainEachTime) {
  const std::string path = file(keys_.open);
  const auto admits = follow_open_keys(path).value();
  EXPECT_TRUE(admits(keys_.open));
  EXPECT_FALSE(admits(other_.open));
  std::ofstream(path, std::ios::app) << "\n" << other_.open << "\n";
  EXPECT_TRUE(admits(other_.open));
  file(other_.open);
  EXPECT_FALSE(admits(keys_.open));
  EXPECT_TRUE(admits(other_.open));
  file(keys_.open + "\noops\n");  // the list stays until that is mended
  EXPECT_FALSE(admits(keys_.open));
  EXPECT_TRUE(admits(other_.open));
  file("# nobody\n");
  EXPECT_FALSE(admits(other_.open));
  std::filesystem::remove(path);
  EXPECT_FALSE(admits(other_.open));
}

TEST_F(KeysTest, AWelcomeTellsThem) {
  WorkerInfo info;
  info.name = "w 3";
  info.host = "node7";
  info.data = "tcp://10.0.0.7:5551";
  info.pid = 4711;
  std::string body;
  append_entry(body, 3, info);
  info.key = keys_.open;
  append_entry(body, 4, info);
  const auto roster = parse_roster(body);
  ASSERT_TRUE(roster.ok()) << roster.error().message;
  EXPECT_EQ(roster.value()[0].key, "");
  EXPECT_EQ(roster.value()[1].key, keys_.open);
  EXPECT_EQ(roster.value()[1].name, "w 3");
  EXPECT_FALSE(parse_roster("3 w node7 x 4711 nokey\n").ok());
  EXPECT_FALSE(parse_roster("3 w node7 x 4711 " + keys_.open + " x\n").ok());
}

}  // namespace
}  // namespace gt::net
