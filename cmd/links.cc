#include "links.h"

#include "file/remote_files.h"
#include "net/endpoint.h"

namespace gt {
namespace {

constexpr const char* kIsSecret =
    " has the secret key of --key, which nobody else may know; a public one is "
    "printed by gt-key --public ";

}  // namespace

std::string ListenOptions::read() {
  if (key.empty() != allow.empty()) {
    return key_option + " and " + allow_option +
           " go together: who this is, and who may attach";
  }
  if (!key.empty() && insecure) {
    return "--insecure is for a " + self + " without --key";
  }
  auto at = net::listening_endpoint(endpoint);
  if (!at.ok()) return option + " " + endpoint + ": " + at.error().message;
  if (key.empty() && !insecure && !net::is_local(at.value())) {
    return option + " " + endpoint +
           ": anyone who reaches it could attach; give " + key_option +
           " and " + allow_option + (may_be_insecure ? ", " : ", or ") +
           "bind tcp://127.0.0.1:PORT" +
           (may_be_insecure ? ", or say --insecure" : "");
  }
  endpoint = std::move(at.value());
  if (key.empty()) return "";
  auto secret = net::read_secret(key);
  if (!secret.ok()) return key_option + ": " + secret.error().message;
  auto follows = net::follow_open_keys(allow);
  if (!follows.ok()) return allow_option + ": " + follows.error().message;
  if (follows.value()(secret.value().secret)) {
    return allow_option + ": " + allow + kIsSecret + key;
  }
  keys = std::move(secret.value());
  admits = std::move(follows.value());
  return "";
}

Result<Roots> sort_roots(const std::vector<std::string>& roots) {
  Roots out;
  for (std::string root : roots) {
    if (!is_remote(root)) {
      out.folders.push_back(std::move(root));
      continue;
    }
    if (root.ends_with('/')) root.pop_back();
    const Status status = net::check_connectable(root);
    if (!status.ok()) {
      return Error{"--root " + root + ": " + status.error().message};
    }
    out.endpoints.push_back(std::move(root));
  }
  return out;
}

std::string ConnectOptions::read() {
  if (key.empty() != open_key.empty()) {
    return "--key and " + key_option + " go together: who this is, and to whom";
  }
  if (!key.empty()) {
    auto secret = net::read_secret(key);
    if (!secret.ok()) return "--key: " + secret.error().message;
    auto other = net::read_open_key(open_key);
    if (!other.ok()) return key_option + ": " + other.error().message;
    if (other.value() == secret.value().secret) {
      return key_option + ": " + open_key + kIsSecret + key;
    }
    keys = std::move(secret.value());
    other_key = std::move(other.value());
  }
  if (insecure && keys) {
    return "--insecure is for a " + self + " without --key";
  }
  const std::string what = option + " " + endpoint + ": ";
  if (keys || insecure) {
    const Status status = net::check_connectable(endpoint);
    return status.ok() ? "" : what + status.error().message;
  }
  auto at = net::connecting_endpoint(endpoint);
  if (!at.ok()) return what + at.error().message;
  if (!net::is_local(at.value())) {
    return what + "without keys anyone on the way there could be " + program +
           "; give --key and " + key_option + ", or say --insecure";
  }
  endpoint = std::move(at.value());
  return "";
}

}  // namespace gt
