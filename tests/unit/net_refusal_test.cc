// What people are told if there is no connection to a listening end.
#include "net/refusal.h"

#include <gtest/gtest.h>

namespace gt::net {
namespace {

TEST(Callee, SaysWhyThereIsNoConnection) {
  const Callee route{"gt-route", "ipc:///tmp/gt", "--route-key"};
  EXPECT_EQ(route.name(), "gt-route at ipc:///tmp/gt");
  EXPECT_EQ(route.listener(), "what listens at ipc:///tmp/gt");
  EXPECT_EQ(route.not_admitting("this key, K"),
            "does not admit this key, K; its --allow lists whom it does");
  EXPECT_EQ(route.not_connecting(true),
            "takes no connection of ours: it has no keys, or it is no "
            "gt-route");
  EXPECT_EQ(route.not_connecting(false),
            "takes no connection of ours: it wants keys (--key, --route-key), "
            "or it is no gt-route");
  EXPECT_EQ(route.not_trusted("it is root's"),
            "is not taken for gt-route: it is root's");
  EXPECT_EQ(route.same_user_rule(),
            "; without keys only processes of one user work together (--key "
            "and --route-key, or --insecure, admit others)");
  EXPECT_EQ(route.sent_no_message("no header line"),
            "what came from ipc:///tmp/gt is no message of gt-route: no header "
            "line");
}

TEST(Callee, NamesNoOptionsIfItHasNone) {
  const Callee lender{"gt-emit", "tcp://h:1", ""};
  EXPECT_EQ(lender.not_connecting(false),
            "takes no connection of ours: it wants keys, or it is no gt-emit");
  EXPECT_EQ(lender.same_user_rule(),
            "; without keys only processes of one user work together");
}

TEST(Callee, SaysWhatWasThereInstead) {
  const Callee server{"gt-emit", "tcp://h:1", "--server-key"};
  EXPECT_EQ(server.not_there(1500, false, ""),
            "no gt-emit at tcp://h:1 within 1.5 s");
  EXPECT_EQ(server.not_there(1500, true, "it is root's"),
            "no gt-emit at tcp://h:1 within 1.5 s; what is there took no "
            "connection of ours: is --server-key its public key?; of what is "
            "there, it is root's");
}

}  // namespace
}  // namespace gt::net
