import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClientDelay, SocketTable } from './socket-table.ts'

const SLOW_AFTER_MS = 1_000
const UNUSED_GRACE_MS = 2_000
const receiving = () => 'slow_request' as const
const unread = () => 'unread_answer' as const
const atWork = () => null

/** A table in which sockets are numbers. */
const tableOf = (maxSockets: number, maxPerAddress = 1_000) =>
  new SocketTable<number>({ maxSockets, maxPerAddress, slowAfterMs: SLOW_AFTER_MS, unusedGraceMs: UNUSED_GRACE_MS })

const openAll = (table: SocketTable<number>, sockets: readonly number[], address: string | null = 'a', nowMs = 0) => {
  for (const socket of sockets) expect(table.open(socket, address, nowMs)).toMatchObject({ evicted: null })
}

describe('when all sockets of the server are open', () => {
  test('the oldest that carried no request within two seconds gives way', () => {
    const table = tableOf(3)
    openAll(table, [1, 2, 3])
    table.begin(1, null, atWork, 0)
    table.end(1)
    expect(table.open(4, 'b', UNUSED_GRACE_MS)).toEqual({
      kind: 'admitted',
      evicted: { socket: 2, address: 'a', reason: 'unused', limit: 'server' },
    })
    expect(table.size).toBe(3)
  })

  test('else the one that is idle for longest', () => {
    const table = tableOf(3)
    openAll(table, [1, 2, 3])
    for (const socket of [1, 2, 3]) table.begin(socket, null, atWork, 0)
    for (const socket of [2, 3, 1]) table.end(socket)
    expect(table.open(4, 'b', 0)).toMatchObject({ evicted: { socket: 2, reason: 'idle' } })
  })

  test('a new one without a request yet stays, and the longest idle one gives way', () => {
    const table = tableOf(3)
    openAll(table, [1, 2], 'attacker')
    for (const socket of [1, 2]) table.begin(socket, null, atWork, 0)
    for (const socket of [1, 2]) table.end(socket)
    openAll(table, [3], 'provider', 10_000)
    expect(table.open(4, 'attacker', 10_010)).toMatchObject({ evicted: { socket: 1, reason: 'idle' } })
  })

  test('the oldest new one gives way when none is idle', () => {
    const table = tableOf(2)
    openAll(table, [1, 2])
    expect(table.open(3, 'b', 0)).toMatchObject({ evicted: { socket: 1, reason: 'unused' } })
  })

  test('else the request whose body has been arriving for more than a second', () => {
    const table = tableOf(3)
    openAll(table, [1, 2, 3])
    table.begin(1, null, atWork, 0)
    table.begin(2, null, receiving, 0)
    table.begin(3, null, receiving, 500)
    expect(table.open(4, 'b', SLOW_AFTER_MS)).toMatchObject({ evicted: { socket: 2, reason: 'slow_request' } })
    table.begin(4, null, atWork, SLOW_AFTER_MS)
    expect(table.open(5, 'b', SLOW_AFTER_MS)).toEqual({ kind: 'refused', limit: 'server' })
  })

  test('none gives way whose request has arrived, however long it is at work', () => {
    const table = tableOf(2)
    openAll(table, [1, 2])
    for (const socket of [1, 2]) table.begin(socket, null, atWork, 0)
    expect(table.open(3, 'b', 60_000)).toEqual({ kind: 'refused', limit: 'server' })
  })

  test('one gives way whose client has not read its answer, beside any number of requests at work', () => {
    const table = tableOf(301)
    for (let socket = 0; socket < 301; socket++) {
      openAll(table, [socket])
      table.begin(socket, null, socket === 300 ? unread : atWork, 0)
    }
    expect(table.open(301, 'b', SLOW_AFTER_MS)).toMatchObject({ evicted: { socket: 300, reason: 'unread_answer' } })
  })

  test('after a search without a result, the next one takes place a tenth of a second later', () => {
    const table = tableOf(1)
    openAll(table, [1])
    let delay: 'unread_answer' | null = null
    let looks = 0
    const look = () => {
      looks++
      return delay
    }
    table.begin(1, null, look, 0)
    expect(table.open(2, 'b', 1_000).kind).toBe('refused')
    delay = 'unread_answer'
    expect(table.open(2, 'b', 1_099).kind).toBe('refused')
    expect(looks).toBe(1)
    expect(table.open(2, 'b', 1_100)).toMatchObject({ evicted: { socket: 1 } })
  })

  test('a search takes place again when the wall clock was set back after one without a result', () => {
    const table = tableOf(1)
    openAll(table, [1])
    let delay: 'unread_answer' | null = null
    table.begin(1, null, () => delay, 0)
    expect(table.open(2, 'b', 3_600_000).kind).toBe('refused')
    delay = 'unread_answer'
    expect(table.open(2, 'b', 10_000)).toMatchObject({ evicted: { socket: 1 } })
  })

  test('a socket with one of two requests answered is not idle', () => {
    const table = tableOf(1)
    openAll(table, [1])
    table.begin(1, null, atWork, 0)
    table.begin(1, null, atWork, 0)
    table.end(1)
    expect(table.open(2, 'b', 0).kind).toBe('refused')
    table.end(1)
    expect(table.open(2, 'b', 0)).toMatchObject({ evicted: { socket: 1, reason: 'idle' } })
  })
})

describe('an address that has reached its limit', () => {
  test('makes room among its own sockets, and none of another address gives way', () => {
    const table = tableOf(10, 2)
    openAll(table, [1], 'old')
    openAll(table, [2, 3], 'greedy')
    expect(table.open(4, 'greedy', 0)).toMatchObject({ evicted: { socket: 2, limit: 'address' } })
    expect(table.size).toBe(3)
  })

  test('is refused when all of its requests are at work, while another address is admitted', () => {
    const table = tableOf(10, 1)
    openAll(table, [1])
    table.begin(1, null, atWork, 0)
    expect(table.open(2, 'a', 60_000)).toEqual({ kind: 'refused', limit: 'address' })
    openAll(table, [3], 'b')
  })

  test('does not count while it stands for a trusted proxy, whose requests count for the clients that it names', () => {
    const table = tableOf(10, 1)
    openAll(table, [1, 2, 3], null)
    expect(table.begin(1, 'client', atWork, 0)).toMatchObject({ kind: 'admitted' })
    expect(table.begin(2, 'client', atWork, 0)).toEqual({ kind: 'refused', limit: 'address' })
    expect(table.begin(3, 'other', atWork, 0)).toMatchObject({ kind: 'admitted' })
    table.end(1)
    expect(table.begin(2, 'client', atWork, 0)).toMatchObject({ kind: 'admitted', evicted: null })
  })
})

interface Request {
  readonly delay: ClientDelay | null
  readonly atMs: number
}

interface Open {
  readonly peer: string | null
  counted: string | null
  readonly openedAtMs: number
  idleSinceMs: number | undefined
  readonly requests: Request[]
}

test('whatever happens in whichever order, no limit is passed and nothing at work is evicted', () => {
  const step = fc.record({
    kind: fc.constantFrom('open', 'open', 'begin', 'end', 'close'),
    socket: fc.integer({ min: 0, max: 9 }),
    peer: fc.constantFrom('a', 'b', null, null),
    client: fc.constantFrom('a', 'c', null),
    delay: fc.constantFrom<ClientDelay | null>('slow_request', 'unread_answer', null),
    afterMs: fc.constantFrom(0, 10, 100, 1_000),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), steps => {
      const table = tableOf(6, 3)
      /**
       * A model of the open sockets, separate from the table: the address that each socket counts against, and its
       * requests.
       */
      const open = new Map<number, Open>()
      let nowMs = 0
      const evict = (admission: ReturnType<typeof table.open>) => {
        if (admission.kind === 'refused' || admission.evicted === null) return
        const { socket, address, reason, limit } = admission.evicted
        const evicted = open.get(socket)!
        const [request] = evicted.requests
        const rivals = [...open.values()].filter(one => limit === 'server' || one.counted === address)
        const idleSince = rivals.flatMap(one => one.idleSinceMs ?? [])
        const isOverdue = (one: Open) =>
          one.idleSinceMs === undefined && one.requests.length === 0 && nowMs - one.openedAtMs >= UNUSED_GRACE_MS
        if (request !== undefined) {
          expect(reason).toBe(request.delay)
          expect(nowMs - request.atMs).toBeGreaterThanOrEqual(SLOW_AFTER_MS)
          expect(rivals.every(one => one.requests.length > 0)).toBe(true)
        } else if (evicted.idleSinceMs !== undefined) {
          expect(reason).toBe('idle')
          expect(evicted.idleSinceMs).toBe(Math.min(...idleSince))
          expect(rivals.some(isOverdue)).toBe(false)
        } else {
          expect(reason).toBe('unused')
          expect(isOverdue(evicted) || idleSince.length === 0).toBe(true)
        }
        open.delete(socket)
      }
      for (const { kind, socket, peer, client, delay, afterMs } of steps) {
        nowMs += afterMs
        const known = open.get(socket)
        if (kind === 'open' && known === undefined) {
          const admission = table.open(socket, peer, nowMs)
          evict(admission)
          if (admission.kind === 'admitted') {
            open.set(socket, { peer, counted: peer, openedAtMs: nowMs, idleSinceMs: undefined, requests: [] })
          }
        } else if (kind === 'begin' && known !== undefined && known.requests.length === 0) {
          // Only a trusted proxy states the client's address.
          const forwardedFor = known.peer === null ? client : null
          const admission = table.begin(socket, forwardedFor, () => delay, nowMs)
          evict(admission)
          if (admission.kind === 'admitted') {
            known.requests.push({ delay, atMs: nowMs })
            known.idleSinceMs = undefined
            known.counted = forwardedFor ?? known.peer
          }
        } else if (kind === 'end' && known !== undefined && known.requests.length > 0) {
          table.end(socket)
          known.requests.length = 0
          known.idleSinceMs = nowMs
          known.counted = known.peer
        } else if (kind === 'close') {
          table.close(socket)
          open.delete(socket)
        }
        expect(table.size).toBe(open.size)
        expect(table.size).toBeLessThanOrEqual(6)
        const counted = Map.groupBy(open.values(), one => one.counted)
        for (const [address, sockets] of counted) if (address !== null) expect(sockets.length).toBeLessThanOrEqual(3)
      }
    }),
    { numRuns: 500 },
  )
})
