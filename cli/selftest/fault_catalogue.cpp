#include "cli/selftest/fault_catalogue.h"

namespace assay::cli {
namespace {

constexpr std::string_view add = "tensor_ops/add/f32/n=1003";
constexpr std::string_view exp = "tensor_ops/exp/f32/n=1003";
constexpr std::string_view copy = "tensor_ops/copy/f32/n=1003";
constexpr std::string_view softmax = "tensor_ops/softmax/f32/rows=16,cols=1003";
constexpr std::string_view layer = "linear/f32/batch=16,in=64,out=33,bias=1,act=none";
constexpr std::string_view integer_layer =
    "linear/i8/batch=16,in=64,out=33,bias=1,act=none";  // keeps its bits
constexpr std::string_view allreduce = "allreduce/f32/reduce=sum,ranks=3,count=1003";

constexpr std::string_view large = "tensor_ops/add/f32/n=4194304";
constexpr std::string_view medium = "tensor_ops/add/f32/n=65537";
constexpr std::string_view product = "linear/f32/batch=16,in=4096,out=33,bias=0,act=none";

constexpr std::string_view timed = "--profile seeds";
constexpr std::string_view at_length =
    "--profile default";  // each set of tensors is launched often
constexpr std::string_view brief = "--check-only --timeout 2";

// clang-format off
constexpr Pairing on_simulated[] = {
    {"low_bit", layer, "exact_data: 1 of 528 elements wrong"},
    {"low_bit", "linear/f32/batch=300,in=512,out=290,bias=1,act=none", "exact_data: 1 of 87000 elements wrong"},
    {"low_bit", "tensor_ops/cast/f32/to=e4m3,n=1003", "all_exponents: 1 of 1003 elements wrong"},
    {"sign_bit", add, "all_exponents: 1 of 1003 elements wrong"},
    {"exponent_bit", exp, "domain: 1 of 1003 elements wrong"},
    {"strided_bits", copy, "every 32th element from [5]"},
    {"drift", exp, "domain: "},
    {"drift", layer, "exact_data: "},
    {"nan_element", softmax, "large_logits: 1 of 16048 elements wrong"},
    {"nan_element", allreduce, "exact_data: ", Status::fail, "--check-only", 3},
    {"nan_for_infinity", exp, "domain: "},
    {"nan_for_infinity", "tensor_ops/scan/f32/n=20", "special_values: "},
    {"tile_not_written", layer, "exact_data: 256 of 528 elements wrong"},
    {"stale_element", layer, "exact_data: 1 of 528 elements wrong"},
    {"nothing_written", copy, "all_exponents: "},
    {"past_end", add, "4 bytes written past the end"},
    {"before_start", add, "4 bytes written before the start"},
    {"tile_past_end", layer, "1024 bytes written past the end"},
    {"read_past_end", "tensor_ops/neg/f32/n=1003", "all_exponents: 1 of 1003 elements wrong"},
    {"input_overwritten", "tensor_ops/argmax/f32/n=1003", "input 0 was overwritten"},
    {"rows_swapped", softmax, "large_logits: "},
    {"tile_moved", "linear/bf16/batch=300,in=512,out=290,bias=0,act=none", "real_data: 25"},
    {"tile_moved", "linear/f32/batch=300,in=512,out=290,bias=0,act=none", "exact_data: 256 of 87000 elements wrong"},
    {"transposed", "linear/f32/batch=33,in=64,out=33,bias=0,act=none", "exact_data: "},
    {"width_for_stride", "tensor_ops/relu/f32/n=610,cols=61,ld=64", "all_exponents: "},
    {"index_wraps", copy, "all_exponents: "},
    {"bias_missed", layer, "exact_data: 33 of 528 elements wrong"},
    {"activation_skipped", "linear/f32/batch=16,in=64,out=33,bias=1,act=relu", "exact_data: "},
    {"activation_variant", "linear/f32/batch=16,in=64,out=33,bias=1,act=gelu", "exact_data: "},
    {"activation_variant", "linear/bf16/batch=16,in=64,out=33,bias=1,act=gelu_tanh", "exact_data: "},
    {"not_reset", layer, "wrong"},
    {"loop_short", layer, "exact_data: "},
    {"tf32_inputs", "linear/f32/batch=16,in=4096,out=33,bias=0,act=none", "effective bits"},
    {"tf32_inputs", "linear/f32/batch=1,in=4096,out=1000,bias=0,act=none", "effective bits"},
    {"tf32_inputs", "linear/linear_stack/f32/batch=16,in=10,width=16,layers=3,bias=0,act=relu", "real_data: "},
    {"tf32_inputs", "tensor_ops/prod/f32/n=1003", "real_data: the only element is wrong"},
    {"bf16_pairs", "linear/f32/batch=16,in=4096,out=33,bias=0,act=none", "effective bits"},
    {"bf16_inputs", "linear/tf32/batch=16,in=4096,out=33,bias=0,act=none", "effective bits"},
    {"f32_factors", "linear/tf32/batch=16,in=64,out=33,bias=1,act=none", "more precise than tf32", Status::pass},
    {"truncating_sums", "linear/f32/batch=16,in=4096,out=33,bias=0,act=none", "effective bits"},
    {"truncating_sums", "linear/e4m3/batch=64,in=1024,out=128,bias=0,act=none", "not the correctly rounded value"},
    {"declared_sums", "linear/f32/batch=16,in=4096,out=33,bias=0,act=none", "truncating,step=16", Status::pass},
    {"declared_sums", "linear/e4m3/batch=64,in=1024,out=128,bias=0,act=none", "u=2^-13,truncating,step=32", Status::pass},
    {"six_products", "linear/bf16x9/batch=16,in=64,out=33,bias=0,act=none", "bf16_parts: 528 of 528 elements wrong"},
    {"six_products", "linear/bf16x9/batch=1,in=4096,out=1000,bias=1,act=none", "bf16_parts: 1000 of 1000 elements wrong"},
    {"three_products", "linear/bf16x9/batch=16,in=64,out=33,bias=0,act=none", "exact_data: "},
    {"three_products", "linear/bf16x9/batch=16,in=4096,out=33,bias=0,act=none", "bf16_parts: "},
    {"tf32_fallback", "linear/bf16x9/batch=16,in=64,out=33,bias=1,act=relu", "bf16_parts: "},
    {"nan_dropped", "linear/bf16x9/batch=16,in=64,out=33,bias=0,act=none", "special_values: "},
    {"declared_sums", "linear/bf16x9/batch=16,in=4096,out=33,bias=0,act=none", "truncating,step=16,products=9", Status::pass},
    {"declared_sums", "linear/bf16x9/batch=16,in=64,out=33,bias=1,act=none", "truncating,step=16,products=9", Status::pass},
    {"rounded_parts", "linear/bf16x9/batch=16,in=4096,out=33,bias=1,act=none", "products=9", Status::pass},
    {"neighbour_scale", "linear/mxfp8/batch=16,in=64,out=32,bias=0,act=none", "exact_data: "},
    {"neighbour_scale", "linear/mxfp4/batch=16,in=64,out=32,bias=0,act=none", "exact_data: "},
    {"neighbour_scale", "linear/nvfp4/batch=16,in=64,out=32,bias=1,act=relu", "exact_data: "},
    {"scale_ignored", "linear/mxfp8/batch=16,in=64,out=32,bias=1,act=gelu", "exact_data: 16 of 512 elements wrong"},
    {"scale_ignored", "linear/nvfp4/batch=16,in=64,out=32,bias=0,act=none", "exact_data: 16 of 512 elements wrong"},
    {"halves_swapped", "linear/mxfp4/batch=16,in=64,out=32,bias=0,act=none", "exact_data: "},
    {"halves_swapped", "linear/nvfp4/batch=16,in=64,out=32,bias=0,act=none", "exact_data: "},
    {"scale_format", "linear/nvfp4/batch=16,in=64,out=32,bias=0,act=none", "exact_data: "},
    {"tf32_elements", "linear/f32/batch=512,in=4096,out=333,bias=0,act=none", "the worst of many"},
    {"half_accumulator", "linear/f16/batch=16,in=512,out=33,bias=0,act=none", "exact_data: "},
    {"half_accumulator", "linear/f32/batch=16,in=512,out=33,bias=0,act=none", "exact_data: "},
    {"split_sums", "linear/bf16/batch=16,in=512,out=33,bias=0,act=none", "exact_data: "},
    {"fixed_point", "linear/bf16/batch=64,in=512,out=120,bias=0,act=none", "not the correctly rounded value"},
    {"saturation", "linear/i8/batch=16,in=64,out=33,bias=1,act=none", "exact_data: "},
    {"truncation", "tensor_ops/cast/f32/to=bf16,n=1003", "all_exponents: "},
    {"truncation", "linear/bf16/batch=16,in=64,out=33,bias=1,act=none", "exact_data: "},
    {"subnormals_flushed", "tensor_ops/mul/f32/n=1003", "all_exponents: "},
    {"subnormals_flushed", exp, "domain: "},
    {"nan_dropped", "tensor_ops/relu/f32/n=1003", "all_exponents: "},
    {"nan_dropped", "tensor_ops/scan/f32/n=1003", "special_values: "},
    {"nan_dropped", softmax, "special_values: "},
    {"one_pass_variance", "tensor_ops/layernorm/f32/rows=16,cols=1003", "mean_1000: "},
    {"no_shift", softmax, "large_logits: "},
    {"one_row_differs", integer_layer, "not batch-invariant: of fewer rows, some have other bits, first batch=1: [0]", Status::fail, "--check-only --batch-invariant"},
    {"stuck_meter", add, "energy: 0 updates of its counter are too few to tell", Status::pass, "--profile seeds --energy"},
    {"one_row_differs", softmax, "first rows=1: [0]", Status::fail, "--check-only --batch-invariant"},
    {"every_thousandth", add, "launch 998 of 3000", Status::fail, "--check-only --soak 3000"},
    {"wrong_while_timed", add, "the last launch differs", Status::fail, timed},
    {"idle_while_timed", add, "the last launch differs", Status::fail, timed},
    {"every_other", add, "wrong"},
    {"leaves_other_threads", add, "leaves OpenMP with"},
    {"leaves_rounding_up", add, "leaves another rounding mode"},
    {"leaves_subnormals_flushed", add, "leaves subnormal numbers flushed"},
    {"block_misplaced", "tensor_ops/copy/u8/n=8388608", "[2097152]"},
    {"block_misplaced", "transfers/device_memcpy/u8/from=pinned,to=device,bytes=8388608,by=engine", "[2097152]"},
    {"truncated", copy, "all_exponents: 1 of 1003 elements wrong"},
    {"truncated", "transfers/device_memcpy/u8/from=device,to=pinned,bytes=65536,by=kernel", "unique_words: 1 of 65536 elements wrong"},
    {"truncated", "transfers/peer_memcpy/u8/bytes=65536,by=kernel,access=direct,ways=both", "unique_words: 2 of 131072 elements wrong", Status::fail, "--check-only", 2},
    {"other_device", add, "lies on device SIM-1, not on SIM-0"},
    {"other_stream", allreduce, "rank 0 runs on device SIM-1, not on SIM-0", Status::fail, "--check-only", 3},
    {"rank_missed", allreduce, "exact_data: ", Status::fail, "--check-only", 3},
    {"rank_twice", allreduce, "exact_data: ", Status::fail, "--check-only", 3},
    {"ranks_disagree", "allreduce/f32/reduce=min,ranks=3,count=1003", "1 of 3009 elements wrong", Status::fail, "--check-only", 3},
    {"own_order", allreduce, "ranks disagree", Status::fail, "--check-only", 3},
    {"ranks_drop_nan", "allreduce/f32/reduce=max,ranks=3,count=1003", "ties: ", Status::fail, "--check-only", 3},
    {"not_divided", "allreduce/f32/reduce=avg,ranks=3,count=1003", "exact_data: ", Status::fail, "--check-only", 3},
    {"not_divided", "collectives/reduce_scatter/f32/reduce=avg,ranks=3,count=1003", "exact_data: ", Status::fail, "--check-only", 3},
    {"rank_missed", "collectives/reduce/f32/reduce=sum,ranks=3,count=1003,root=1", "exact_data: ", Status::fail, "--check-only", 3},
    {"ranks_disagree", "collectives/all_gather/f32/ranks=3,count=1003", "1 of 9027 elements wrong", Status::fail, "--check-only", 3},
    {"neighbour_chunk", "collectives/all_gather/f32/ranks=3,count=1003", "3009 of 9027 elements wrong", Status::fail, "--check-only", 3},
    {"neighbour_chunk", "collectives/all_to_all/f32/ranks=3,count=1003", "3009 of 9027 elements wrong", Status::fail, "--check-only", 3},
    {"neighbour_chunk", "collectives/reduce_scatter/f32/reduce=sum,ranks=3,count=1003", "exact_data: ", Status::fail, "--check-only", 3},
    {"neighbour_chunk", "collectives/send_recv/f32/ranks=3,count=1003", "1003 of 3009 elements wrong", Status::fail, "--check-only", 3},
    {"neighbour_chunk", "collectives/send_recv_pair/f32/ranks=3,count=1003,from=2,to=1", "1003 of 1003 elements wrong", Status::fail, "--check-only", 3},
    {"next_root", "collectives/broadcast/f32/ranks=3,count=1003,root=1", "3009 of 3009 elements wrong", Status::fail, "--check-only", 3},
    {"renamed", "placement/device_query/f32/n=1003", "opened as"},
    {"opens_anything", "placement/absent_device_refused/f32/n=1003", "was opened"},
    {"stale_memory", "placement/most_free/f32/devices=2,n=1003", "was chosen", Status::fail, "--check-only", 2},
    {"other_device", "placement/device_guard/f32/devices=2,n=1003,exit=error", "within a guard a tensor", Status::fail, "--check-only", 2},
    {"claims_all", "placement/born_on_cpu/f32/n=1003", "lies on sim:0"},
    {"other_device", "placement/move_stays/f32/n=1003", "it should be on sim:0"},
    {"torn_upload", "placement/move_copies/i8/n=1003", "1 of 1003 elements wrong"},
    {"torn_upload", "placement/round_trip/u8/rows=7,cols=5,layout=transposed", "elements wrong"},
    {"torn_upload", "placement/move_between/i8/devices=2,n=1003", "1 of 1003 elements wrong", Status::fail, "--check-only", 2},
    {"ignores_seed", "tensor_ops/random/f32/n=1003,seed=42", "first: "},
    {"other_device", "placement/results_stay/f32/n=1003", "square on sim:0: operand 0 is on SIM-1"},
    {"claims_all", "placement/mixed_devices_refused/f32/n=1003", "add of"},
    {"claims_all", "placement/mixed_peers_refused/f32/devices=2,n=1003", "add of", Status::fail, "--check-only", 2},
    {"low_bit", "placement/square_123/i64/numbers=3", "1 of 3 elements wrong"},
    {"bias_missed", "placement/linear_module/f32/batch=2,in=3,out=3,bias=1,act=none", "exact_data: "},
    {"activation_skipped", "placement/sequential/f32/batch=16,in=10,width=16,layers=3,bias=0,act=relu", "exact_data: "},
    {"ignores_seed", "placement/manual_seed/f32/n=1003,seed=42", "a generator repeats itself"},
    {"ignores_seed", "placement/manual_seed_all/f32/devices=2,n=1003,seed=42", "to seed one device", Status::fail, "--check-only", 2},
    {"loop_short", "placement/data_parallel/f32/devices=2,batch=17,in=10,width=16,layers=2,bias=0,act=relu", "exact_data: ", Status::fail, "--check-only", 2},
    {"rank_missed", "placement/distributed_gradient/f32/ranks=2,samples=13,in=3,out=1", "exact_data: ", Status::fail, "--check-only", 2},
    {"not_divided", "placement/distributed_gradient/f32/ranks=2,samples=16,in=10,out=5", "exact_data: ", Status::fail, "--check-only", 2},
    {"segv", add, "signal 11", Status::crash, brief},
    {"abort", add, "signal 6", Status::crash, brief},
    {"hang", add, "no answer within 2 s", Status::timeout, brief},
    {"out_of_memory", add, "no memory", Status::oom, brief},
    {"sticky_error", add, "sticky", Status::error, brief},
    {"device_lost", add, "fallen off the bus", Status::device_lost, brief},
    {"dead_rank", allreduce, "no answer within 2 s", Status::timeout, brief, 3},

    {"zeros", add, "all_exponents: ", Status::fail, "--check-only", 1, true},
    {"copies_input", add, "all_exponents: ", Status::fail, "--check-only", 1, true},
    {"remembers_addresses", medium, "last_launch: ", Status::fail, at_length, 1, true},
    {"remembers_addresses", "tensor_ops/sum/f32/n=1048573", "last_launch: ", Status::fail, at_length, 1, true},
    {"remembers_some_elements", medium, "last_launch: ", Status::fail, at_length, 1, true},
    {"remembers_all_elements", medium, "exact", Status::pass, at_length, 1, true},
    // Which check finds them depends on how long their other thread takes.
    {"works_on_the_side", large, " elements wrong", Status::fail, "--check-only", 1, true},
    {"returns_early", large, " at [", Status::fail, "--check-only", 1, true},
    {"writes_late", add, "after its stream has ended", Status::fail, "--check-only", 1, true},
    {"writes_past_its_output", add, "4 bytes written past the end", Status::fail, "--check-only", 1, true},
    {"changes_its_input", add, "input 0 was overwritten", Status::fail, "--check-only", 1, true},
    {"slows_the_clock", add, "its clock tells of", Status::fail, timed, 1, true},
    {"lowers_precision", product, "effective bits", Status::fail, "--check-only", 1, true},
    {"only_round_shapes", add, "all_exponents: ", Status::fail, "--check-only", 1, true},
    {"first_launches_only", add, "last_launch: ", Status::fail, timed, 1, true},
    {"exits", add, "ended its process with exit code 0", Status::crash, brief, 1, true},
    {"hangs", add, "no answer within 2 s", Status::timeout, brief, 1, true},
    {"garbage_everywhere", add, "", Status::error, brief, 1, true},
    {"takes_all_memory", add, "cheats: ", Status::oom, brief, 1, true},
};

constexpr Pairing on_gpu[] = {
    {"past_end", add, "4 bytes written past the end"},
    {"flipped_bit", add, "all_exponents: 1 of 1003 elements wrong"},
    {"trap", add, "the context is lost", Status::error},
    {"endless", add, "no answer within 10 s", Status::timeout, "--check-only --timeout 10"},
    {"huge_allocation", add, "cudaMalloc", Status::oom},
};
// clang-format on

}  // namespace

std::span<const Pairing> fault_catalogue() { return on_simulated; }
std::span<const Pairing> gpu_fault_catalogue() { return on_gpu; }

}  // namespace assay::cli
