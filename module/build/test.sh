#!/bin/sh
# test.sh FILE: a test file for prove, whose standard error goes past prove to
# descriptor 9.  Of several jobs that prove has, one that says something there
# has all of its attention until a line on standard output follows: as long as
# a storm lasts, no other job would begin.  (Nor when that pipe is closed, so
# this shell stays, and keeps it.)
# In the suite, whose parts share a number of jobs, each begins with a line of
# descriptor 8, which it returns.
[ -z "$TEST_SLOTS" ] || read -r _ <&8
TEST_SLOTS="" perl -It/lib "$1" 2>&9 8<&- 9>&-
status=$?
[ -z "$TEST_SLOTS" ] || echo >&8
exit $status
