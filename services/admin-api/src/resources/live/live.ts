import { IdFilter } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { projectFilterOf } from '../../http/find-resource.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { createEventReader } from './live-events.ts'
import { LiveHub } from './live-hub.ts'
import { createLiveMetrics, LiveStream, type LiveStreamParts } from './live-stream.ts'
import { createSlots } from './slots.ts'

/** A browser tab needs one stream. */
const MAX_STREAMS_PER_KEY = 10
const MAX_STREAMS = 500
/** Missed changes are read from the history of the database, which is slow; other clients wait. */
const CATCH_UPS_AT_ONCE = 4

const LiveQuery = z.object({
  project_id: IdFilter.optional().describe('Only events of this project. Default: every project of the key'),
  last_event_id: z
    .string()
    .max(2_048)
    .optional()
    .describe('The id to resume after, for clients that cannot send `Last-Event-ID`. The header has precedence'),
})

/** Creates what all streams of this process share. */
function createLiveParts(parts: AdminParts): LiveStreamParts {
  const { changeFeed: feed, clock, logger, stopping } = parts
  const metrics = createLiveMetrics(parts.metrics)
  const readEvents = createEventReader(parts)
  const hub = new LiveHub({ feed, readEvents, clock, logger, stopping })
  return { hub, feed, readEvents, clock, logger, metrics, takeSlot: createSlots(CATCH_UPS_AT_ONCE) }
}

/** GET /v1/live */
export function liveRoutes(parts: AdminParts): Route[] {
  const live = createLiveParts(parts)
  const openByKey = new Map<string, number>()
  let open = 0
  return [
    defineRoute({
      method: 'get',
      path: '/v1/live',
      operationId: 'streamEvents',
      tag: 'Live',
      summary: 'Stream changes as Server-Sent Events',
      description:
        'Events are `incident`, `action`, `delivery`, `connection` and `channel`. The data is the resource as its list shows it when the event is sent; several quick changes of one resource may be one event. Send the id of the last event as `Last-Event-ID` to resume after it. `reset` means that events may be missing: load the resources again. A key or person may have 10 streams open in each process; beyond, the answer is 429.',
      scope: 'read',
      query: LiveQuery,
      answers: { 200: { description: 'The stream, which has no end', mediaType: 'text/event-stream' } },
      refusals: ['not_found', 'rate_limited', 'overloaded'],
      async handle({ query, principal, lastEventId, authorize, signal }) {
        const projectOf = (who: typeof principal) => projectFilterOf(who, query.project_id).project_id
        projectOf(principal)
        const { id: principalId } = principal
        const ofKey = openByKey.get(principalId) ?? 0
        if (ofKey >= MAX_STREAMS_PER_KEY) {
          const message = `This key or person has ${ofKey} streams open; close one`
          throw new AppError('rate_limited', message, { retryable: true })
        }
        if (open >= MAX_STREAMS) throw new AppError('overloaded', 'Too many streams are open; retry later')
        const after = lastEventId === undefined || lastEventId === '' ? query.last_event_id : lastEventId
        const client = { principalId, after, signal, authorize: async () => projectOf(await authorize()) }
        return {
          status: 200,
          // Without this header, nginx collects an answer before it passes it on.
          headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
          async stream(out) {
            open++
            openByKey.set(principalId, (openByKey.get(principalId) ?? 0) + 1)
            try {
              await new LiveStream(live, client, out).run()
            } finally {
              open--
              const left = (openByKey.get(principalId) ?? 1) - 1
              if (left === 0) openByKey.delete(principalId)
              else openByKey.set(principalId, left)
            }
          },
        }
      },
    }),
  ]
}
