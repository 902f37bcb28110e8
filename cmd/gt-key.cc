// gt-key: makes the keys of connections that leave the machine.
#include <unistd.h>

#include "arguments.h"
#include "net/keys.h"
#include "program.h"

namespace {

constexpr const char* kFooter =
    R"(Writes a new secret key to standard output; with --public, the public key of
the secret one that FILE has. A secret key is for its owner's eyes: make its file
under umask 077. See gt-key(1), and --key of gt-route(1) and gt-work(1).
Exit status: 0 done; 2 usage, or a key cannot be read.

Examples:
  umask 077; gt-key > worker.key
  gt-key --public worker.key >> allowed)";

int fail(const std::string& message) {
  gt::say("gt-key: " + message + "\n");
  return static_cast<int>(gt::Exit::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args("gt-key", "Make keys for workers on other machines.",
                     kFooter);
  std::string file;
  args.text("--public", file,
            "write the public key of the secret one in FILE, '-' for "
            "standard input")
      .type("FILE");
  int status = 0;
  if (!args.parse(argc, argv, status)) return status;
  const bool is_public = args.has("--public");
  if (file == "-") file = "/dev/stdin";
  const auto keys =
      is_public ? gt::net::read_secret(file) : gt::net::make_keys();
  if (!keys.ok()) return fail(keys.error().message);
  gt::Writer out(STDOUT_FILENO);
  out.write((is_public ? keys.value().open : keys.value().secret) + "\n");
  return gt::finish("gt-key", out, gt::Exit::kDone);
}
