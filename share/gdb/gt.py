"""gdb's printer of gt::Tensor: name, type, and whether its session is open.

gdb loads it with an installed libgt.so; by hand: source share/gdb/gt.py. The
values are asked of the library in the stopped program, by functions that take
no lock; of a core file there is only the address.
"""

import gdb
import gdb.printing

DTYPES = ("f32", "f64", "f16", "bf16", "i64", "i32", "u8", "bool")


def call(function, result, address):
    """Calls FUNCTION(address), which returns RESULT; needs no debug information."""
    return gdb.parse_and_eval(f"(({result} (*)(unsigned long)){function})({address}ul)")


def type_text(address):
    """f32[2,3], read from the library's gt_type {int, int32_t, int64_t *}."""
    shown = int(call("gt_type_of", "unsigned long", address))
    if shown == 0:
        return "of unknown type"
    int32 = gdb.lookup_type("int")
    words = gdb.Value(shown).cast(int32.pointer())
    rank = int(words[1])
    long = gdb.lookup_type("long")
    sizes = gdb.Value(shown + 8).cast(long.pointer().pointer()).dereference()
    sizes = ",".join(str(int(sizes[i])) for i in range(rank))
    return f"{DTYPES[int(words[0])]}[{sizes}]"


class TensorPrinter:
    def __init__(self, value):
        self.address = int(value["value_"])

    def to_string(self):
        if self.address == 0:
            return "tensor that holds nothing"
        try:
            name = call("gt_name_of", "char *", self.address).string()
            session = int(call("gt_session_of", "unsigned long", self.address))
            state = ("closed", "open")[int(call("gt_is_open", "int", session))]
            return f"{name} = {type_text(self.address)}, session {state}"
        except gdb.error as error:
            return f"tensor at {self.address:#x} ({error})"


printers = gdb.printing.RegexpCollectionPrettyPrinter("gt")
printers.add_printer("Tensor", "^gt::(v1::)?(Tensor|Parameter)$", TensorPrinter)
gdb.printing.register_pretty_printer(
    gdb.current_objfile(), printers, replace=True)
