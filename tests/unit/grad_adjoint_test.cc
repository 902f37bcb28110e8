// The gradients of collectives and conversions are their adjoints: <dy, A x>
// and <A^T dy, x> are one number, where a P counts as its sum and an I counts
// once.
#include <map>
#include <sstream>

#include "emit_harness.h"
#include "exec_harness.h"

namespace gt::grad {
namespace {

constexpr int kMeshSize = 6;  // mesh dp=2 tp=3: two groups of three
constexpr int kGroup = 3;

using Pieces = std::vector<std::vector<double>>;  // by rank

struct Move {
  const char* line;    // without the result and the operand
  char src, dst;       // letters, of which S is V
  const char* shapes;  // x's on tp 0, 1, 2, or one for all
};

std::string shape_on(const std::string& shapes, int place) {
  std::stringstream in(shapes);
  std::string word, last;
  for (int i = 0; i <= place && in >> word; ++i) last = word;
  return last;
}

// Integers that differ from rank to rank, or only from group to group.
std::string value(const std::string& type, bool same, int rank, int salt) {
  const int who = same ? rank / kGroup * kGroup : rank;
  std::string text = "tensor " + type;
  const int64_t n = parse_type(type).value().elements();
  for (int64_t i = 0; i < n; ++i) {
    text += " " + std::to_string((i * 7 + who * 11 + salt) % 13 - 6);
  }
  return text;
}

class Adjoint {
 public:
  explicit Adjoint(const Move& move) : move_(move) {}

  void check() {
    // The program runs once to learn the shapes of its results.
    const auto y = run(head() + "print y@0-5\n");
    if (::testing::Test::HasFatalFailure()) return;
    std::string program = head();
    for (int r = 0; r < kMeshSize; ++r) {
      program += at("dy", r) + " = " +
                 value(types_["y@" + std::to_string(r)], dual_is_one(), r, 3) +
                 "\n";
    }
    program += retype("dy", dual(move_.dst));
    program += "m@0-5 = mul y@0-5 dy@0-5\nl@0-5 = sum m@0-5 #partial=dp";
    if (move_.dst == 'V') program += "+tp";
    program += "\ng@0-5 = grad l@0-5 x@0-5\n";
    program += "print x@0-5\nprint y@0-5\nprint dy@0-5\nprint g@0-5\n";
    auto all = run(program);
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(pair(all["y"], all["dy"], move_.dst),
              pair(all["x"], all["g"], move_.src))
        << program;
    if (move_.src == 'I' || move_.src == 'P') {
      for (int r = 0; r < kMeshSize; ++r) {
        EXPECT_EQ(all["g"][r], all["g"][r / kGroup * kGroup]) << program;
      }
    }
  }

 private:
  static std::string at(const std::string& name, int rank) {
    return name + "@" + std::to_string(rank);
  }
  bool dual_is_one() const { return move_.dst == 'I' || move_.dst == 'P'; }

  // Pieces that are made by themselves are V; this line gives them their
  // meaning.
  static std::string retype(const std::string& name, char letter) {
    if (letter == 'V') return "";
    return name + "@0-5 = retype " + name + "@0-5 over=tp src=V dst=" + letter +
           "\n";
  }

  std::string head() const {
    std::string text = "mesh dp=2 tp=3\n";
    const bool same = move_.src == 'R' || move_.src == 'I';
    for (int r = 0; r < kMeshSize; ++r) {
      const std::string type = "f32[" + shape_on(move_.shapes, r % 3) + "]";
      text += at("x", r) + " = " + value(type, same, r, 0) + "\n";
    }
    const std::string op(move_.line);
    const size_t end = std::min(op.find(' '), op.size());
    return text + retype("x", move_.src) + "y@0-5 = " + op.substr(0, end) +
           " x@0-5" + op.substr(end) + "\n";
  }

  std::map<std::string, Pieces> run(const std::string& program) {
    const std::string stream = emit::stream_of(program);
    const exec::Outcome outcome = exec::run_text(stream);
    std::map<std::string, Pieces> values;
    [&] { ASSERT_EQ(outcome.status, Exit::kDone) << stream << outcome.out; }();
    std::stringstream lines(outcome.out);
    std::string line;
    while (std::getline(lines, line)) {
      std::stringstream words(line);
      std::string name, equals, tensor, type;
      words >> name >> equals >> tensor >> type;
      types_[name] = type;
      std::vector<double>& piece =
          values[name.substr(0, name.find('@'))].emplace_back();
      for (double v; words >> v;) piece.push_back(v);
    }
    return values;
  }

  static double dot(const std::vector<double>& a,
                    const std::vector<double>& b) {
    EXPECT_EQ(a.size(), b.size());
    double sum = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  static std::vector<double> sum(const Pieces& pieces, int group) {
    std::vector<double> out = pieces[group * kGroup];
    for (int i = 1; i < kGroup; ++i) {
      for (size_t k = 0; k < out.size(); ++k) {
        out[k] += pieces[group * kGroup + i][k];
      }
    }
    return out;
  }

  // The product of a value with its gradient, over both groups, by the value's
  // type.
  static double pair(const Pieces& value, const Pieces& gradient, char letter) {
    double all = 0;
    for (int group = 0; group < 2; ++group) {
      const int first = group * kGroup;
      switch (letter) {
        case 'R':
          all += dot(sum(gradient, group), value[first]);
          break;
        case 'I':
          all += dot(gradient[first], value[first]);
          break;
        case 'P':
          all += dot(gradient[first], sum(value, group));
          break;
        default:
          for (int i = 0; i < kGroup; ++i) {
            all += dot(gradient[first + i], value[first + i]);
          }
      }
    }
    return all;
  }

  const Move& move_;
  std::map<std::string, std::string> types_;
};

void check_all(std::initializer_list<Move> moves) {
  for (const Move& move : moves) {
    SCOPED_TRACE(move.line);
    Adjoint(move).check();
  }
}

TEST(Adjoint, OfAllReduce) {
  check_all({
      {"all_reduce over=tp src=P dst=R", 'P', 'R', "2,3"},
      {"all_reduce over=tp src=P dst=I", 'P', 'I', "2,3"},
      {"all_reduce over=tp src=V dst=R", 'V', 'R', "2"},
      {"all_reduce over=tp src=V dst=I", 'V', 'I', "2"},
  });
}

TEST(Adjoint, OfAllGather) {
  check_all({
      {"all_gather over=tp", 'V', 'R', "2,3"},
      {"all_gather over=tp gather_dim=1", 'V', 'R', "2,3"},
      {"all_gather over=tp src=S0", 'V', 'R', "2,3"},
      {"all_gather over=tp src=S-1", 'V', 'R', "2,3"},
      {"all_gather over=tp src=S0 split_sizes=2+0+3", 'V', 'R', "2 0 3"},
      {"all_gather over=tp src=S1 split=tp:1 shape=2,7", 'V', 'R',
       "2,3 2,2 2,2"},
      {"all_gather over=tp dst=I", 'V', 'I', "2,3"},
      {"all_gather over=tp dst=I gather_dim=-1", 'V', 'I', "2,3"},
      {"all_gather over=tp src=S1 dst=I", 'V', 'I', "2,3"},
      {"all_gather over=tp src=S0 dst=I split=tp:0*2 shape=8", 'V', 'I',
       "4 2 2"},
  });
}

TEST(Adjoint, OfReduceScatter) {
  check_all({
      {"reduce_scatter over=tp", 'P', 'V', "3,2"},
      {"reduce_scatter over=tp scatter_dim=1", 'P', 'V', "2,3"},
      {"reduce_scatter over=tp dst=S0", 'P', 'V', "6"},
      {"reduce_scatter over=tp dst=S-1", 'P', 'V', "2,3"},
      {"reduce_scatter over=tp dst=S0 split_sizes=1+3+1", 'P', 'V', "5"},
      {"reduce_scatter over=tp dst=S0 split=tp:0 shape=5,2", 'P', 'V', "5,2"},
      {"reduce_scatter over=tp src=V", 'V', 'V', "3,2"},
      {"reduce_scatter over=tp src=V dst=S0", 'V', 'V', "3,2"},
  });
}

TEST(Adjoint, OfAllToAll) {
  check_all({
      {"all_to_all over=tp", 'V', 'V', "3,2"},
      {"all_to_all over=tp split_dim=1 concat_dim=2", 'V', 'V', "2,3,4"},
      {"all_to_all over=tp src=S0 dst=S1", 'V', 'V', "2,3"},
      {"all_to_all over=tp src=S1 dst=S0", 'V', 'V', "3,2"},
      {"all_to_all over=tp src=S0 dst=S1 split=tp:1 shape=6,5", 'V', 'V',
       "2,5"},
      {"all_to_all over=tp src=S0 dst=S1", 'V', 'V', "2,3 1,3 3,3"},
      {"all_to_all over=tp src=S1 dst=S0 split_sizes=1+0+4", 'V', 'V',
       "5,2 5,0 5,1"},
      {"all_to_all over=tp src=S0 dst=S0 split_sizes=1+2+0,0+1+1,2+0+1", 'V',
       'V', "3,2 2,2 3,2"},
  });
}

TEST(Adjoint, OfConvert) {
  check_all({
      {"convert over=tp src=I dst=R", 'I', 'R', "2,3"},
      {"convert over=tp src=R dst=R", 'R', 'R', "2,3"},
      {"convert over=tp src=I dst=I", 'I', 'I', "2,3"},
      {"convert over=tp src=V dst=V", 'V', 'V', "2,3"},
      {"convert over=tp src=R dst=V", 'R', 'V', "3,2"},
      {"convert over=tp src=R dst=V scatter_dim=1", 'R', 'V', "2,3"},
      {"convert over=tp src=R dst=S0", 'R', 'V', "6,2"},
      {"convert over=tp src=R dst=S0 split=tp:0 shape=5", 'R', 'V', "5"},
      {"convert over=tp src=I dst=V", 'I', 'V', "3,2"},
      {"convert over=tp src=I dst=S1", 'I', 'V', "2,6"},
      {"convert over=tp src=I dst=S1 split_sizes=1+0+3", 'I', 'V', "2,4"},
      {"convert over=tp src=R dst=P", 'R', 'P', "2,3"},
      {"convert over=tp src=R dst=I expert=1", 'R', 'I', "2,3"},
      {"convert over=tp src=I dst=P expert=1", 'I', 'P', "2,3"},
      {"convert over=tp src=V dst=P expert=1", 'V', 'P', "2,3"},
      {"convert over=tp src=V dst=P gather_dim=1 expert=1", 'V', 'P', "2,3"},
      {"convert over=tp src=S0 dst=P expert=1", 'V', 'P', "2,3"},
      {"convert over=tp src=S0 dst=P split=tp:0 shape=4 expert=1", 'V', 'P',
       "2 1 1"},
  });
}

TEST(Adjoint, OfReinterpret) {
  check_all({
      {"reinterpret over=tp src=V dst=P", 'V', 'P', "2,3"},
      {"reinterpret over=tp src=R dst=R expert=1", 'R', 'R', "2,3"},
      {"reinterpret over=tp src=I dst=I", 'I', 'I', "2,3"},
      {"reinterpret over=tp src=R dst=V expert=1", 'R', 'V', "2,3"},
      {"reinterpret over=tp src=R dst=P expert=1", 'R', 'P', "2,3"},
      {"reinterpret over=tp src=I dst=V", 'I', 'V', "2,3"},
      {"reinterpret over=tp src=I dst=P", 'I', 'P', "2,3"},
      {"reinterpret over=tp src=R dst=I expert=1", 'R', 'I', "2,3"},
      {"reinterpret over=tp src=I dst=R expert=1", 'I', 'R', "2,3"},
  });
}

TEST(Adjoint, OfRedistribute) {
  check_all({
      {"redistribute over=tp src=V dst=R", 'V', 'R', "2,3"},
      {"redistribute over=tp src=S0 dst=R", 'V', 'R', "2,3"},
      {"redistribute over=tp src=S0 dst=R split=tp:0 shape=5", 'V', 'R',
       "2 2 1"},
      {"redistribute over=tp src=V dst=I", 'V', 'I', "2,3"},
      {"redistribute over=tp src=S1 dst=I", 'V', 'I', "2,3"},
      {"redistribute over=tp src=P dst=R", 'P', 'R', "2,3"},
      {"redistribute over=tp src=P dst=I", 'P', 'I', "2,3"},
      {"redistribute over=tp src=P dst=V", 'P', 'V', "3,2"},
      {"redistribute over=tp src=P dst=S1", 'P', 'V', "2,3"},
      {"redistribute over=tp src=P dst=S0 split=tp:0 shape=4", 'P', 'V', "4"},
      {"redistribute over=tp src=S0 dst=S1", 'V', 'V', "2,3"},
      {"redistribute over=tp src=S0 dst=S1", 'V', 'V', "2,3 1,3 0,3"},
      {"redistribute over=tp src=S1 dst=S0 split=tp:0 shape=5,6", 'V', 'V',
       "5,1 5,2 5,3"},
      {"redistribute over=tp src=I dst=R", 'I', 'R', "2,3"},
      {"redistribute over=tp src=R dst=V", 'R', 'V', "3,2"},
      {"redistribute over=tp src=R dst=S0", 'R', 'V', "3,2"},
      {"redistribute over=tp src=I dst=V", 'I', 'V', "3,2"},
      {"redistribute over=tp src=I dst=S0", 'I', 'V', "3,2"},
      {"redistribute over=tp src=R dst=P", 'R', 'P', "2,3"},
      {"redistribute over=tp src=R dst=I", 'R', 'I', "2,3"},
      {"redistribute over=tp src=I dst=P", 'I', 'P', "2,3"},
      {"redistribute over=tp src=V dst=P", 'V', 'P', "2,3"},
      {"redistribute over=tp src=S0 dst=P", 'V', 'P', "2,3"},
      {"redistribute over=tp src=R dst=R", 'R', 'R', "2"},
      {"redistribute over=tp src=I dst=I", 'I', 'I', "2"},
      {"redistribute over=tp src=P dst=P", 'P', 'P', "2"},
      {"redistribute over=tp src=V dst=V", 'V', 'V', "2"},
      {"redistribute over=tp src=S0 dst=S0", 'V', 'V', "2"},
  });
}

TEST(Adjoint, OfTheRest) {
  check_all({
      {"broadcast over=tp", 'V', 'R', "2,3"},
      {"broadcast over=tp root=2", 'V', 'R', "2,3"},
      {"reduce over=tp", 'P', 'P', "2,3"},
      {"reduce over=tp root=1", 'P', 'P', "2,3"},
      {"remesh axes=tp", 'R', 'R', "2"},
      {"retype over=tp src=V dst=V", 'V', 'V', "2"},
  });
}

}  // namespace
}  // namespace gt::grad
