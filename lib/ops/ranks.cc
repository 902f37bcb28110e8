// Ops between ranks: meshes, collectives, and conversions of a tensor's type on
// an axis. lib/spmd gives the rows their meaning; gradients are the
// counterparts of spmd_types 0.2 (meta-pytorch/spmd_types), its table of
// collectives and conversions.
#include "ops/families.h"
#include "ops/ranks_words.h"
#include "ops/row_text.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_crossing(Call& call) {
  return Error{"works between ranks: its names need some, as in y@0-3 = " +
               call.op->name + " x@0-3"};
}

Status types_declaration(Call&) { return ok_status(); }

constexpr const char* kSource =
    "spmd_types 0.2 (meta-pytorch/spmd_types), docs/design.md";

// Computes dx from s, the result's gradient, and k, the result, both combined
// over the ranks. Ranks that have the largest (smallest) value share its
// gradient; in a product, the factor of each rank is the product of the others.
constexpr char kOfExtremesAndProducts[] = R"(
       [op!=sum op!=mean op!=prod] e = eq x k
       [op!=sum op!=mean op!=prod] c = cast e i64
       [op!=sum op!=mean op!=prod] n = all_reduce c over={over} src=V dst=R
       [op!=sum op!=mean op!=prod] q = div s n
       [op!=sum op!=mean op!=prod] dx = mul q c
       [op=prod] a = all_gather x over={over} src=V dst=R
       [op=prod] z = prod_grad s a axis=0
       [op=prod] dx = convert z over={over} src=R dst=V)";

constexpr auto kAllReduceGradient = row_text(R"(
       [op=sum from=P to=R] dx = all_reduce dy over={over} src=P dst=R acc={bwd}
       [op=sum from=P to=I] dx = convert dy over={over} src=I dst=R
       [op=sum from=V to=R] t = all_reduce dy over={over} src=P dst=R acc={bwd}
       [op=sum from=V to=I] t = convert dy over={over} src=I dst=R
       [op=sum from=V] dx = reinterpret t over={over} src=R dst=V expert=1
       [op!=sum to=R] s = all_reduce dy over={over} src=P dst=R acc={bwd}
       [op!=sum to=I] s = convert dy over={over} src=I dst=R
       [op=mean] m = div s {members}
       [op=mean from=P] dx = copy m
       [op=mean from=V] dx = reinterpret m over={over} src=R dst=V expert=1
       [op!=sum op!=mean op!=prod to=R] k = copy y
       [op!=sum op!=mean op!=prod to=I] k = convert y over={over} src=I dst=R)",
                                             kOfExtremesAndProducts);

constexpr auto kReduceScatterGradient = row_text(R"(
       [op=sum to=V from=P] dx = all_gather dy over={over} src=V dst=R gather_dim={scatter_dim}
       [op=sum to=S from=P] dx = all_gather dy over={over} src={dst} dst=R split={split} shape={shape} split_sizes={split_sizes}
       [op=sum to=V from=V] t = all_gather dy over={over} src=V dst=R gather_dim={scatter_dim}
       [op=sum to=S from=V] t = all_gather dy over={over} src={dst} dst=R split={split} shape={shape} split_sizes={split_sizes}
       [op=sum from=V] dx = reinterpret t over={over} src=R dst=V expert=1
       [op!=sum to=V] s = all_gather dy over={over} src=V dst=R gather_dim={scatter_dim}
       [op!=sum to=S] s = all_gather dy over={over} src={dst} dst=R split={split} shape={shape} split_sizes={split_sizes}
       [op=mean] m = div s {members}
       [op=mean from=P] dx = copy m
       [op=mean from=V] dx = reinterpret m over={over} src=R dst=V expert=1
       [op!=sum op!=mean op!=prod to=V] k = all_gather y over={over} src=V dst=R gather_dim={scatter_dim}
       [op!=sum op!=mean op!=prod to=S] k = all_gather y over={over} src={dst} dst=R split={split} shape={shape} split_sizes={split_sizes})",
                                                 kOfExtremesAndProducts);

constexpr auto kReduceGradient = row_text(R"(
       [op=sum] dx = broadcast dy over={over} root={root}
       [op!=sum] s = broadcast dy over={over} root={root}
       [op=mean] dx = div s {members}
       [op!=sum op!=mean op!=prod] k = broadcast y over={over} root={root})",
                                          kOfExtremesAndProducts);

constexpr Row kRankRows[] = {
    {.signature = "mesh [space=]",
     .types = types_declaration,
     .flops = 0,
     .sense = "Names the axes of the ranks: mesh dp=2 tp=4.",
     .details = "Ranks are numbered row-major, the last axis varying fastest. "
                "It stands until the next mesh or endmesh; space= is the name "
                "space (c1 of c1/w) whose ranks are meant. Errors: sizes below "
                "1; more than 65,536 ranks.",
     .source = kSource,
     .example = "mesh dp=2 tp=2\n"
                "x@0-3 = ones f32[1]\n"
                "y@0-3 = all_reduce x@0-3 over=dp\n"
                "print y@0 as=y\n"
                "=> y = tensor f32[1] 2",
     .statement = Statement::kMesh,
     .free_keys = true},
    {.signature = "endmesh [space=]",
     .types = types_declaration,
     .flops = 0,
     .sense = "Ends a mesh; the one before it stands again.",
     .details = "Errors: no mesh stands.",
     .source = kSource,
     .example = "mesh dp=2\n"
                "endmesh\n"
                "x = tensor f32[] 1\n"
                "print x\n"
                "=> x = tensor f32[] 1",
     .statement = Statement::kEndmesh},
    {.signature = "axis [space=]",
     .types = types_declaration,
     .flops = 0,
     .sense = "Names several axes as one: axis world=dp*tp.",
     .details = "The first is outermost. Errors: no mesh; unknown axes; a name "
                "that the mesh has.",
     .source = kSource,
     .example = "mesh dp=2 tp=2\n"
                "axis world=dp*tp\n"
                "x@0-3 = ones f32[1]\n"
                "y@0-3 = all_reduce x@0-3 over=world\n"
                "print y@0 as=y\n"
                "=> y = tensor f32[1] 4",
     .statement = Statement::kAxis,
     .free_keys = true},
    {.signature = "y = all_reduce x [over=] op=sum src=P dst=R [acc=] [out=] "
                  "[bwd=]",
     .index = "...->...",
     .linear = "0",
     .gradient = kAllReduceGradient.data(),
     .types = types_crossing,
     .placeholder = ends_word,
     .sense = "On every rank the sum over its group.",
     .details = "src=P (a V is taken as one), dst=R if different work follows, "
                "I if the same. op= combines otherwise: mean, max, min, prod. "
                "Ranks that share the largest (smallest) value share its "
                "gradient evenly. acc= is the dtype of the work, out= of the "
                "result, bwd= of the gradient's work. Sums are taken in a "
                "fixed tree: the first half of the group plus the second, "
                "recursively. Errors: pieces of different types.",
     .source = kSource,
     .example = "x@0 = tensor f32[2] 1 2\n"
                "x@1 = tensor f32[2] 3 4\n"
                "y@0-1 = all_reduce x@0-1\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[2] 4 6",
     .collective = Collective::kAllReduce},
    {.signature = "y = all_gather x [over=] src=V dst=R [gather_dim=] "
                  "[split_sizes=] [split=] [shape=] [acc=] [out=] [bwd=]",
     .linear = "0",
     .gradient = R"(
       [from=V to=R] dx = reduce_scatter dy over={over} src=P dst=V scatter_dim={gather_dim} acc={bwd}
       [from=S to=R] dx = reduce_scatter dy over={over} src=P dst={src} split={split} shape={shape} split_sizes={split_sizes} acc={bwd}
       [from=V to=I] dx = convert dy over={over} src=I dst=V scatter_dim={gather_dim}
       [from=S to=I] dx = convert dy over={over} src=I dst={src} split={split} shape={shape} split_sizes={split_sizes})",
     .types = types_crossing,
     .placeholder = ends_word,
     .flops = 0,
     .sense = "On every rank the pieces of its group together.",
     .details = "src=V stacks them along a new dimension gather_dim= (0), "
                "src=S1 concatenates along dimension 1. Uneven pieces need "
                "split= and shape= (of the operand) or split_sizes=2+3+1. "
                "Errors: pieces that do not fit.",
     .source = kSource,
     .example = "x@0-1 = tensor f32[2] 1 2\n"
                "y@0-1 = all_gather x@0-1 src=S0\n"
                "print y@0 as=y\n"
                "=> y = tensor f32[4] 1 2 1 2",
     .collective = Collective::kAllGather},
    {.signature = "y = reduce_scatter x [over=] op=sum src=P dst=V "
                  "[scatter_dim=] [split_sizes=] [split=] [shape=] [acc=] "
                  "[out=] [bwd=]",
     .linear = "0",
     .gradient = kReduceScatterGradient.data(),
     .types = types_crossing,
     .placeholder = ends_word,
     .sense = "On every rank its part of the sum over the group.",
     .details =
         "dst=V keeps slice r of dimension scatter_dim= (0), which goes; "
         "dst=S1 chunk r of dimension 1. Chunks that do not come out "
         "even need split= and shape= (of the result) or split_sizes=. "
         "Sums, op=, acc= and out= as in all_reduce.",
     .source = kSource,
     .example = "x@0-1 = tensor f32[2] 1 2\n"
                "y@0-1 = reduce_scatter x@0-1 dst=S0\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[1] 4",
     .collective = Collective::kReduceScatter},
    {.signature = "y = all_to_all x [over=] src=V dst=V [split_dim=] "
                  "[concat_dim=] [split_sizes=] [split=] [shape=]",
     .linear = "0",
     .gradient = R"(
       [from=V] dx = all_to_all dy over={over} src=V dst=V split_dim={concat_dim} concat_dim={split_dim}
       [from=S same=1 split_sizes] dx = all_to_all dy over={over} src={dst} dst={src} split_sizes={back}
       [from=S same=0] dx = all_to_all dy over={over} src={dst} dst={src} split_sizes={x.back})",
     .types = types_crossing,
     .placeholder = exchange_word,
     .flops = 0,
     .sense = "Part j of rank i becomes part i of rank j.",
     .details = "src=V: slices of dimension split_dim= (0), stacked along "
                "concat_dim= (0). src=S0 dst=S1: unshards dimension 0 and "
                "shards dimension 1; uneven parts need split= and shape= (of "
                "the result). src=S0 dst=S0: rows, as split_sizes=1+2,0+3 "
                "says, a list for each sender.",
     .source = kSource,
     .example = "mesh tp=2\n"
                "x@0 = tensor f32[2] 1 2\n"
                "x@1 = tensor f32[2] 3 4\n"
                "y@0-1 = all_to_all x@0-1 over=tp\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[2] 2 4",
     .collective = Collective::kAllToAll},
    {.signature = "y = broadcast x [over=] root=0",
     .index = "...->...",
     .linear = "0",
     .gradient = "dx = reduce dy over={over} root={root}",
     .types = types_crossing,
     .flops = 0,
     .sense = "On every rank what the group's member root= has.",
     .details = "root= is an index in the group. Errors: no such member.",
     .source = kSource,
     .example = "x@0 = tensor f32[1] 1\n"
                "x@1 = tensor f32[1] 2\n"
                "y@0-1 = broadcast x@0-1 root=1\n"
                "print y@0 as=y\n"
                "=> y = tensor f32[1] 2",
     .collective = Collective::kBroadcast},
    {.signature = "y = reduce x [over=] root=0 op=sum [acc=] [out=]",
     .index = "...->...",
     .linear = "0",
     .gradient = kReduceGradient.data(),
     .types = types_crossing,
     .placeholder = ends_word,
     .sense = "On the group's member root= the sum over the group, zeros on "
              "the others.",
     .details = "Sums, op=, acc= and out= as in all_reduce.",
     .source = kSource,
     .example = "x@0-1 = tensor f32[1] 3\n"
                "y@0-1 = reduce x@0-1 root=1\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[1] 6",
     .collective = Collective::kReduce},
    {.signature = "y = convert x [over=] src= dst= expert=0 [gather_dim=] "
                  "[scatter_dim=] [split_sizes=] [split=] [shape=] [bwd=]",
     .linear = "0",
     .gradient = R"(
       [from=I to=R] dx = all_reduce dy over={over} src=P dst=I acc={bwd}
       [from=R to=V] dx = convert dy over={over} src=V dst=P expert=1 gather_dim={scatter_dim}
       [from=R to=S] dx = convert dy over={over} src={dst} dst=P expert=1 split={split} shape={shape} split_sizes={split_sizes}
       [from=I to=V] dx = all_gather dy over={over} src=V dst=I gather_dim={scatter_dim}
       [from=I to=S] dx = all_gather dy over={over} src={dst} dst=I split={split} shape={shape} split_sizes={split_sizes}
       [from=R to=P] dx = convert dy over={over} src=R dst=P
       [from=R to=I] dx = convert dy over={over} src=I dst=P expert=1
       [from=I to=P] dx = convert dy over={over} src=R dst=I expert=1
       [from=V to=P] dx = convert dy over={over} src=R dst=V scatter_dim={gather_dim}
       [from=S to=P] dx = convert dy over={over} src=R dst={src} split={split} shape={shape} split_sizes={split_sizes}
       [from=V to=S] dx = convert dy over={over} src={dst} dst={src}
       [from=S to=V] dx = convert dy over={over} src={dst} dst={src}
       [same=1] dx = copy dy)",
     .types = types_crossing,
     .placeholder = ends_word,
     .flops = 0,
     .sense = "Another type on the axis, without communication.",
     .details = "I to R: the same bits, whose gradients add up. R or I to V or "
                "S1: the rank's slice or chunk. R to P: rank 0 keeps it, the "
                "others have zeros. V to S1 says which dimension the pieces "
                "are shards of, S1 to V forgets it; they and equal ends leave "
                "all as it is. Rarely meant, so with expert=1: R to I, I "
                "to P, V or S1 to P (its own place, zeros elsewhere). Errors: "
                "ends whose value only communication can tell.",
     .source = kSource,
     .example = "mesh tp=2\n"
                "x@0-1 = tensor f32[2] 5 6\n"
                "y@0-1 = convert x@0-1 over=tp src=R dst=S0\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[1] 6",
     .collective = Collective::kConvert},
    {.signature = "y = reinterpret x [over=] src= dst= expert=0",
     .index = "...->...",
     .linear = "0",
     .gradient = R"(
       [from=V to=P] dx = reinterpret dy over={over} src=R dst=V expert=1
       [from=R to=V] dx = reinterpret dy over={over} src=V dst=P
       [from=R to=P] dx = reinterpret dy over={over} src=R dst=P expert=1
       [from=I to=V] t = reinterpret dy over={over} src=V dst=P
       [from=I to=P] t = reinterpret dy over={over} src=R dst=P expert=1
       [from=I to!=R to!=I] dx = all_reduce t over={over} src=P dst=I
       [from=R to=I] dx = convert dy over={over} src=I dst=P expert=1
       [from=I to=R] dx = all_reduce dy over={over} src=P dst=I
       [from=V to=S] dx = reinterpret dy over={over} src={dst} dst={src}
       [from=S to=V] dx = reinterpret dy over={over} src={dst} dst={src}
       [same=1] dx = copy dy)",
     .types = types_crossing,
     .placeholder = ends_word,
     .flops = 0,
     .sense = "The same bits, meant as another type on the axis.",
     .details = "V to P: the value becomes the pieces' sum. V to S1, S1 to V "
                "and equal ends as in convert. R to V, R to P (n copies of the "
                "value), R to I and I to R are rarely meant and need "
                "expert=1.",
     .source = kSource,
     .example = "x@0-1 = tensor f32[1] 2\n"
                "y@0-1 = reinterpret x@0-1 src=V dst=P\n"
                "z@0-1 = all_reduce y@0-1\n"
                "print z@0 as=z\n"
                "=> z = tensor f32[1] 4",
     .collective = Collective::kReinterpret},
    {.signature = "y = redistribute x [over=] [src=] [dst=] [gather_dim=] "
                  "[scatter_dim=] [split_sizes=] [split=] [shape=] op=sum "
                  "expert=1 [acc=] [out=] [bwd=] [src_spec=] [dst_spec=]",
     .linear = "0",
     .gradient = R"(
       [same=1] dx = copy dy
       [from=S to=S same=0] dx = redistribute dy over={over} src={dst} dst={src} split_sizes={x.back}
       [op=sum from!=S same=0] dx = redistribute dy over={over} src={dual_dst} dst={dual_src} gather_dim={scatter_dim} scatter_dim={gather_dim} split_sizes={split_sizes} split={split} shape={shape} acc={bwd}
       [op=sum from=S to!=S] dx = redistribute dy over={over} src={dual_dst} dst={dual_src} gather_dim={scatter_dim} scatter_dim={gather_dim} split_sizes={split_sizes} split={split} shape={shape} acc={bwd})",
     .types = types_crossing,
     .placeholder = dual_word,
     .sense = "From any type on the axis to any other, by what it takes.",
     .details = "V or S to R or I gathers, P to R or I sums, P to V or S sums "
                "and scatters, S0 to S1 exchanges, the rest converts; equal "
                "ends do nothing. Keys as in those ops. Over several axes "
                "src_spec= and dst_spec= say which cut each dimension, outer "
                "first: dp+tp,- to tp,dp. gt-emit writes that as steps over "
                "one axis each: an axis moves to its place where that is free "
                "and is gathered else, innermost first, and what is missing "
                "is cut then in the wanted order. Its gradient is theirs, the "
                "way back. Errors: neither ends nor specs; a spec with another "
                "number of entries than x has dimensions; pieces that are not "
                "cut so.",
     .source = kSource,
     .example = "mesh tp=2\n"
                "x@0 = tensor f32[1] 0\n"
                "x@1 = tensor f32[1] 1\n"
                "y@0-1 = redistribute x@0-1 over=tp src=S0 dst=R\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[2] 0 1",
     .collective = Collective::kRedistribute},
    {.signature = "y = remesh x [axes=] [type=]",
     .index = "...->...",
     .linear = "0",
     .gradient = "dx = copy dy",
     .types = types_crossing,
     .flops = 0,
     .sense = "The same pieces, typed on other axes.",
     .details = "To the named axes= of the current mesh, types following, or "
                "to the types of type=. Data stay.",
     .source = kSource,
     .example = "mesh tp=2\n"
                "x@0-1 = ones f32[1]\n"
                "y@0-1 = remesh x@0-1 axes=tp\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[1] 1",
     .collective = Collective::kRemesh},
    {.signature = "y = retype x [over=] src= dst=",
     .index = "...->...",
     .linear = "0",
     .gradient = "dx = copy dy",
     .types = types_crossing,
     .flops = 0,
     .sense = "The same pieces; src= on the axis is taken as dst= from here.",
     .details = "For what no rule can see. Data stay, and so do gradients.",
     .source = kSource,
     .example = "mesh tp=2\n"
                "x@0-1 = ones f32[1]\n"
                "y@0-1 = retype x@0-1 over=tp src=R dst=I\n"
                "print y@1 as=y\n"
                "=> y = tensor f32[1] 1",
     .collective = Collective::kRetype},
};

}  // namespace

constinit const Family kRanks{"ranks", "Between ranks.", kRankRows};

}  // namespace gt
