import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../api-client.ts'
import { secretBoxOfTests, type TestApi } from '../test-api.ts'
import { callEveryRoute, createProjectResources, type RouteCall } from './every-route.ts'

/** Every answer, also to a cursor that nobody should accept, comes within this time. */
const ANSWER_WITHIN_MS = 5_000

/** The lists of an API with items, and their cursors. */
function listsOf(testApi: () => TestApi) {
  const api = () => testApi().api
  let lists: RouteCall[]
  beforeAll(async () => {
    const own = await createProjectResources(testApi())
    await createProjectResources(testApi())
    const calls = callEveryRoute(testApi().app.routes, own)
    lists = calls.filter(({ route, method }) => method === 'GET' && 'cursor' in route.query.shape)
  })

  async function read({ path }: RouteCall, cursor: string): Promise<Answer> {
    const query = `${path.includes('?') ? '&' : '?'}limit=1&cursor=${encodeURIComponent(cursor)}`
    const began = performance.now()
    const answer = await api().get(path + query)
    expect(performance.now() - began, path).toBeLessThan(ANSWER_WITHIN_MS)
    return answer
  }

  /** A cursor of each list that has more than one item for the admin key. */
  async function cursorsOfLists(): Promise<{ list: RouteCall; cursor: string }[]> {
    const found: { list: RouteCall; cursor: string }[] = []
    for (const list of lists) {
      const [bare = ''] = list.path.split('?')
      const path = list.route.operationId === 'search' ? list.path : bare
      const { body } = await api().get(`${path}${path.includes('?') ? '&' : '?'}limit=1`)
      if (typeof body.next_cursor === 'string') found.push({ list: { ...list, path }, cursor: body.next_cursor })
    }
    return found
  }
  return { api, lists: () => lists, read, cursorsOfLists }
}

/** Tests of the cursors of all lists. */
export function describeCursors(testApi: () => TestApi): void {
  describe('the cursor of a list', () => {
    const { api, lists, read, cursorsOfLists } = listsOf(testApi)

    test('is refused for another project and for other filters of the same list', async () => {
      for (const { list, cursor } of await cursorsOfLists()) {
        const { shape } = list.route.query
        if (!('project_id' in shape) || list.path.includes('?')) continue
        const own = lists().find(({ route }) => route === list.route)?.path ?? ''
        const named = own.includes('project_id=')
          ? own
          : `${own}?project_id=${(await api().get('/v1/projects?limit=1')).body.data[0].project_id}`
        expect((await read({ ...list, path: named }, cursor)).status, named).toBe(400)
      }
    })
  })
}

/** Tests of cursors that the API did not sign. Whether a signature is right does not depend on the store. */
export function describeForgedCursors(testApi: () => TestApi): void {
  describe('the cursor of a list', () => {
    const { lists, read, cursorsOfLists } = listsOf(testApi)

    test('is refused by every list if this API did not sign it, whatever its parts are', async () => {
      expect(lists().length).toBeGreaterThan(15)
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const texts = ['', 'zzz', '\u{10ffff}']
      const numbers = [0, 8.64e15 + 1]
      const forged = [
        ...texts.flatMap(text => [
          encode([0, text]),
          encode(['actions', text, 0, 'a']),
          encode(['operations', text, 0, text]),
        ]),
        ...numbers.flatMap(at => [encode([at, 'a']), encode(['actions', 'pi_1', at, 'a']), encode({ at, id: 'a' })]),
        ...[null, [], {}, ['actions'], ['operations'], ['x', 'y', 0, 'z']].map(encode),
        ...[
          'nonsense',
          'v1',
          'v1.k1',
          'v1.k1..',
          `v1.k1.${encode({ at: 0, id: 'a' })}.${'A'.repeat(43)}`,
          '1.WzEsImEiXQ',
        ],
        secretBoxOfTests.sign('unsubscribe', JSON.stringify({ at: 0, id: 'a' })),
      ]
      for (const list of lists()) {
        for (const cursor of forged) {
          const { status } = await read(list, cursor)
          expect({ path: list.path, cursor, status }).toEqual({ path: list.path, cursor, status: 400 })
        }
      }
    })

    test('is refused once a part of it was changed, cut, repeated or exchanged', async () => {
      const cursors = await cursorsOfLists()
      expect(cursors.length).toBeGreaterThan(15)
      for (const [index, { list, cursor }] of cursors.entries()) {
        expect((await read(list, cursor)).status, list.path).toBe(200)
        const parts = cursor.split('.')
        const other = (cursors[(index + 1) % cursors.length]?.cursor ?? '').split('.')
        const tampered = parts.flatMap((part, at) => [
          parts.with(at, part.slice(0, -1)),
          parts.with(at, `${part}A`),
          parts.with(at, (part.startsWith('A') ? 'B' : 'A') + part.slice(1)),
          parts.toSpliced(at, 1),
          parts.toSpliced(at, 0, part),
        ])
        for (const one of [...tampered, parts.with(2, other[2] ?? ''), parts.with(3, other[3] ?? ''), other]) {
          const text = one.join('.')
          if (text === cursor) continue
          const { status } = await read(list, text)
          expect({ path: list.path, text, status }).toEqual({ path: list.path, text, status: 400 })
        }
      }
    })
  })
}
