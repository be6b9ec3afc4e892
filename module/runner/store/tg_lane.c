#include "runner/store/tg_lane.h"

static void tg_lane_begin(tg_lane_t *lane);

void
tg_lane_init(tg_lane_t *lane, uv_loop_t *loop,
             void (*run)(void *host, const tg_works_t *batch),
             void (*idle)(void *host), void *host)
{
    lane->loop = loop;
    lane->run = run;
    lane->idle = idle;
    lane->host = host;
    lane->is_busy = 0;
    lane->req.data = lane;
    TAILQ_INIT(&lane->waiting);
    TAILQ_INIT(&lane->batch);
}

static void
tg_lane_on_work(uv_work_t *req)
{
    tg_lane_t *lane;

    lane = req->data;
    lane->run(lane->host, &lane->batch);
}

/* What is asked by those who are told waits for the next batch. */
static void
tg_lane_on_done(uv_work_t *req, int status)
{
    tg_lane_t *lane;
    tg_work_t *work;

    lane = req->data;

    while ((work = TAILQ_FIRST(&lane->batch)) != NULL) {
        TAILQ_REMOVE(&lane->batch, work, next);
        work->done(work);
    }

    lane->is_busy = 0;

    if (!TAILQ_EMPTY(&lane->waiting)) {
        tg_lane_begin(lane);
    } else if (lane->idle != NULL) {
        lane->idle(lane->host);
    }
}

static void
tg_lane_begin(tg_lane_t *lane)
{
    tg_work_t *work;
    unsigned n;

    for (n = 0; n < TG_LANE_BATCH; n++) {
        work = TAILQ_FIRST(&lane->waiting);

        if (work == NULL) {
            break;
        }

        TAILQ_REMOVE(&lane->waiting, work, next);
        TAILQ_INSERT_TAIL(&lane->batch, work, next);
    }

    lane->is_busy = 1;
    (void) uv_queue_work(lane->loop, &lane->req, tg_lane_on_work,
                         tg_lane_on_done);
}

void
tg_lane_add(tg_lane_t *lane, tg_work_t *work)
{
    TAILQ_INSERT_TAIL(&lane->waiting, work, next);

    if (!lane->is_busy) {
        tg_lane_begin(lane);
    }
}

int
tg_lane_is_idle(const tg_lane_t *lane)
{
    return !lane->is_busy && TAILQ_EMPTY(&lane->waiting);
}
