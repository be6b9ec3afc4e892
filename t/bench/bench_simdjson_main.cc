/*
 * As bench_check_main.c, with simdjson's parser: what it needs to say that
 * data are JSON.  It makes a tape of them meanwhile, which nobody asked for.
 */
extern "C" {
#include "bench_data.h"
#include "bench_util.h"
}

#include <cinttypes>
#include <cstdio>
#include <simdjson.h>

#define CHECK_TIMES 200

int
main(int argc, char **argv)
{
    simdjson::dom::parser parser;
    uint64_t start, took, least;
    bench_data_t value;

    if (argc < 3) {
        bench_die("usage: bench_simdjson KIND BYTES [PROCESSOR]");
    }

    bench_pin(argc > 3 ? (int) bench_number(argv[3]) : -1);
    bench_data_value(&value, argv[1], (size_t) bench_number(argv[2]));
    simdjson::padded_string text(value.text, value.len);
    least = UINT64_MAX;

    for (int i = 0; i < CHECK_TIMES; i++) {
        start = bench_now();

        if (parser.parse(text).error()) {
            bench_die("%s is no JSON", argv[1]);
        }

        took = bench_now() - start;
        least = took < least ? took : least;
    }

    printf("ns=%" PRIu64 " bytes=%zu\n", least, value.len);

    return 0;
}
