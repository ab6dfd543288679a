import { setImmediate } from 'node:timers/promises'
import { asUnavailable } from '@backstop/kit/mongo'
import { type ChangeStream, type ChangeStreamDocument, type Db, MongoServerError } from 'mongodb'
import {
  type ChangeCursor,
  type ChangeFeed,
  PositionLost,
  type StoredChange,
  WATCHED_COLLECTIONS,
} from './change-feed.ts'

/** How long MongoDB waits for a change before it answers that there is none, in milliseconds. */
const WAIT_MS = 500
const MAX_CHANGES = 500
/** The form of a resume token: hexadecimal text that MongoDB compares byte by byte. The shorter ones mark a time without a change. */
const TOKEN = /^82[\dA-F]{16,1000}$/
/**
 * Server codes for a token after which MongoDB cannot continue: history lost (286), fatal change stream error (280), invalid token (260),
 * and text that cannot be decoded as a token (2, 9, 40649, 50795 to 50811).
 */
const LOST_CODES = new Set([2, 9, 260, 280, 286, 40_649])
/** Only the place of a change is read, so the content of documents never crosses the network here. */
const PIPELINE = [
  { $match: { operationType: { $in: ['insert', 'update', 'replace'] }, 'ns.coll': { $in: WATCHED_COLLECTIONS } } },
  { $project: { ns: 1, documentKey: 1, operationType: 1 } },
]

type ChangeDocument = Extract<ChangeStreamDocument<{ _id: string }>, { operationType: 'update' }>

/** The change stream of a MongoDB database. Positions are its resume tokens. */
export function createMongoChangeFeed(db: Db): ChangeFeed {
  return {
    async open(after) {
      if (after !== undefined && !TOKEN.test(after)) throw new PositionLost()
      const resume = after === undefined ? {} : { resumeAfter: { _data: after } }
      const stream = db.watch<{ _id: string }, ChangeDocument>(PIPELINE, {
        ...resume,
        maxAwaitTimeMS: WAIT_MS,
        batchSize: MAX_CHANGES,
      })
      const cursor = createCursor(stream, after)
      try {
        await cursor.start()
        return cursor
      } catch (error) {
        await cursor.close()
        throw error
      }
    },
  }
}

const PENDING = Symbol('pending')

function createCursor(stream: ChangeStream<{ _id: string }, ChangeDocument>, startsAt: string | undefined) {
  let position = startsAt ?? ''
  /** The read that did not end before the last batch was returned. */
  let ahead: Promise<ChangeDocument | null> | undefined
  const read = () => {
    const next = ahead ?? convertErrors(() => stream.tryNext())
    ahead = undefined
    return next
  }
  const notePosition = () => {
    const token = (stream.resumeToken as { _data?: unknown } | null)?._data
    if (typeof token === 'string' && token > position) position = token
  }
  const cursor: ChangeCursor & { start(): Promise<void> } = {
    get position() {
      return position
    },
    /** Opens the stream at the server, so that no change after this moment is missed. */
    async start() {
      const first = await read()
      if (first === null) notePosition()
      // A stream that begins now begins after the change that came with the answer, because its position must be known.
      else if (startsAt === undefined) position = toChange(first).position
      else ahead = Promise.resolve(first)
    },
    async next() {
      const first = await read()
      if (first === null) {
        notePosition()
        return []
      }
      const changes = [toChange(first)]
      while (changes.length < MAX_CHANGES) {
        // Changes that arrived already are read at once; the next answer of the server is not awaited.
        const upcoming = read()
        // If it fails before it is awaited, the next call reports the failure.
        upcoming.catch(() => {})
        const got = await Promise.race([upcoming, setImmediate(PENDING)])
        if (got === PENDING || got === null) {
          ahead = upcoming
          break
        }
        changes.push(toChange(got as ChangeDocument))
      }
      position = changes.at(-1)?.position ?? position
      return changes
    },
    async close() {
      // Closing the stream ends the read, whose error tells nothing new.
      ahead?.catch(() => {})
      await stream.close().catch(() => {})
    },
  }
  return cursor
}

function toChange({ _id, ns, documentKey }: ChangeDocument): StoredChange {
  return {
    position: (_id as { _data: string })._data,
    collection: ns.coll as StoredChange['collection'],
    id: String(documentKey._id),
  }
}

async function convertErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await asUnavailable(call)
  } catch (error) {
    const cause = error instanceof MongoServerError ? error : (error as { cause?: unknown }).cause
    const code = cause instanceof MongoServerError && typeof cause.code === 'number' ? cause.code : 0
    if (LOST_CODES.has(code) || (code >= 50_795 && code <= 50_811)) throw new PositionLost(cause)
    throw error
  }
}
