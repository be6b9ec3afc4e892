/*
 * Validation alone: how long does it take to find that data are JSON?
 *
 *   bench_check KIND BYTES [PROCESSOR]
 *
 * One line of NAME=VALUE on stdout: ns, the least of some hundred times, and
 * bytes.  bench_simdjson does the same with simdjson.
 */
#include "bench_data.h"
#include "bench_util.h"

#include "base/tg_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_TIMES 200

int
main(int argc, char **argv)
{
    uint64_t start, took, least;
    bench_data_t value;
    int i;

    if (argc < 3) {
        bench_die("usage: bench_check KIND BYTES [PROCESSOR]");
    }

    bench_pin(argc > 3 ? (int) bench_number(argv[3]) : -1);
    bench_data_value(&value, argv[1], (size_t) bench_number(argv[2]));
    least = UINT64_MAX;

    for (i = 0; i < CHECK_TIMES; i++) {
        start = bench_now();

        if (tg_json_validate(tg_str(value.text, value.len), NULL) != TG_OK) {
            bench_die("%s is no JSON", argv[1]);
        }

        took = bench_now() - start;
        least = took < least ? took : least;
    }

    printf("ns=%" PRIu64 " bytes=%zu\n", least, value.len);
    free(value.text);

    return 0;
}
