import type { Page } from '@backstop/client'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listKey, mergeIntoLists, readAgain, readListsAgain, withHead } from './list-cache.ts'
import { defineList } from './resource.ts'

interface Thing {
  id: string
  state: string
  version: number
  deleted_at?: string
}

const readNothing = async (_?: { state?: string }): Promise<Page<Thing>> => ({ data: [], next_cursor: null })
const list = defineList('things', readNothing, ({ id }) => id, {
  matches: (thing, { state }) => state === undefined || thing.state === state,
})

let client: QueryClient
const show = (query: { state?: string }, ...pages: Thing[][]) =>
  client.setQueryData(listKey('things', query), {
    pages: pages.map(data => ({ data, next_cursor: 'more' })),
    pageParams: pages.map((_, at) => String(at)),
  })
const shown = (query: { state?: string } = {}) =>
  client
    .getQueryData<{ pages: { data: Thing[] }[] }>(listKey('things', query))
    ?.pages.map(({ data }) => data.map(({ id, state }) => `${id} ${state}`))
const arrivals = (query: { state?: string } = {}) =>
  client.getQueryData<Thing[]>(['things', 'arrivals', query])?.map(({ id }) => id)
const open = (id: string, version = 1): Thing => ({ id, state: 'open', version })

beforeEach(() => {
  client = new QueryClient()
})
afterEach(() => client.clear())

describe('an item of a live event', () => {
  test('replaces itself in its place, also in a list whose filter it no longer fits', () => {
    show({ state: 'open' }, [{ id: 'a', state: 'open', version: 1 }], [{ id: 'b', state: 'open', version: 1 }])
    mergeIntoLists(client, list, { id: 'b', state: 'resolved', version: 2 })
    expect(shown({ state: 'open' })).toEqual([['a open'], ['b resolved']])
  })

  test('waits as an arrival, once, if its list does not show it', () => {
    show({}, [])
    show({ state: 'resolved' }, [])
    mergeIntoLists(client, list, { id: 'a', state: 'open', version: 1 })
    mergeIntoLists(client, list, { id: 'b', state: 'open', version: 1 })
    mergeIntoLists(client, list, { id: 'a', state: 'open', version: 2 })
    expect(arrivals()).toEqual(['a', 'b'])
    expect(arrivals({ state: 'resolved' })).toBeUndefined()
  })

  test('changes nothing if the list knows a newer version', () => {
    show({}, [{ id: 'a', state: 'acknowledged', version: 3 }])
    mergeIntoLists(client, list, { id: 'a', state: 'open', version: 2 })
    expect(shown()).toEqual([['a acknowledged']])
  })

  test('leaves the list when it is deleted, also from the arrivals', () => {
    show({}, [{ id: 'a', state: 'open', version: 1 }])
    mergeIntoLists(client, list, { id: 'b', state: 'open', version: 1 })
    for (const id of ['a', 'b']) mergeIntoLists(client, list, { id, state: 'open', version: 2, deleted_at: 'now' })
    expect([shown(), arrivals()]).toEqual([[[]], []])
  })

  test('does not make arrivals grow without limit', () => {
    show({}, [])
    for (let at = 0; at < 500; at++) mergeIntoLists(client, list, { id: `t${at}`, state: 'open', version: 1 })
    expect(arrivals()?.length).toBe(200)
  })
})

test('a list that is read again after a gap begins at its top', () => {
  show({}, [open('a')], [open('b')])
  readListsAgain(client, 'things')
  expect(shown()).toEqual([['a open']])
  expect(client.getQueryState(listKey('things'))?.isInvalidated).toBe(true)
})

const afterMicrotasks = () => new Promise(resolve => setTimeout(resolve))

/** A shown query, each read of which waits for its answer. */
function observe(queryKey: readonly unknown[], meta = {}) {
  const reads: PromiseWithResolvers<unknown>[] = []
  const queryFn = () => {
    const read = Promise.withResolvers<unknown>()
    reads.push(read)
    return read.promise
  }
  const observer = new QueryObserver(client, { queryKey, queryFn, meta, retry: false, staleTime: Infinity })
  return {
    reads,
    stop: observer.subscribe(() => {}),
    async answer(at: number, answer: unknown) {
      reads[at]?.resolve(answer)
      await afterMicrotasks()
    },
  }
}
const onePage = (...data: Thing[]) => ({ pages: [{ data, next_cursor: 'more' }], pageParams: [undefined] })

describe('a read in flight', () => {
  test('is repeated after its answer, if the change came before any answer', async () => {
    const query = observe(listKey('things'))
    readListsAgain(client, 'things')
    expect(query.reads).toHaveLength(1)
    await query.answer(0, onePage())
    expect(query.reads).toHaveLength(2)
    await query.answer(1, onePage(open('a')))
    expect(shown()).toEqual([['a open']])
    expect(query.reads).toHaveLength(2)
    query.stop()
  })

  test('does not hide the live event that came before its answer', async () => {
    const query = observe(listKey('things'))
    client.setQueryData(['things', 'arrivals', {}], [])
    mergeIntoLists(client, list, open('new'))
    mergeIntoLists(client, list, { ...open('known', 2), state: 'resolved' })
    await query.answer(0, onePage(open('known')))
    expect([shown(), arrivals()]).toEqual([[['known resolved']], ['new']])
    query.stop()
  })
})

describe('a list of more than 150 rows', () => {
  const rows = (from: number, count: number) => Array.from({ length: count }, (_, at) => open(`row-${from + at}`))
  const idOf = ({ id }: Thing) => id

  test('is read again by one request for its top', async () => {
    const asked: object[] = []
    const definition = {
      ...list,
      async read(query: object): Promise<Page<Thing>> {
        asked.push(query)
        return { data: [open('new'), ...rows(0, 49)], next_cursor: 'more' }
      },
    }
    const query = observe(listKey('things'), { definition })
    await query.answer(0, {
      pages: Array.from({ length: 10 }, (_, at) => ({ data: rows(at * 50, 50), next_cursor: 'more' })),
      pageParams: Array.from({ length: 10 }, (_, at) => String(at)),
    })
    readAgain(client, { queryKey: ['things', 'list'] })
    await afterMicrotasks()
    expect(asked).toEqual([{ limit: 50 }])
    expect(query.reads).toHaveLength(1)
    expect(shown()?.flat()).toEqual(['new open', ...rows(0, 500).map(({ id }) => `${id} open`)])
    query.stop()
  })

  test.each([
    { name: 'puts new rows on top', head: ['new', 'a', 'b'], expected: ['new', 'a', 'b', 'c', 'd'] },
    { name: 'removes rows that are no longer between others', head: ['a', 'c'], expected: ['a', 'c', 'd'] },
    { name: 'moves a row that is on top now', head: ['c', 'a'], expected: ['c', 'a', 'b', 'd'] },
    { name: 'begins again if no row is in common', head: ['x', 'y'], expected: ['x', 'y'] },
  ])('$name', ({ head, expected }) => {
    const pages = {
      pages: [
        { data: [open('a'), open('b')], next_cursor: '1' },
        { data: [open('c'), open('d')], next_cursor: '2' },
      ],
      pageParams: [undefined, '1'],
    }
    const next = withHead(pages, { data: head.map(id => open(id)), next_cursor: 'more' }, idOf)
    expect(next.pages.flatMap(({ data }) => data.map(idOf))).toEqual(expected)
  })

  test('keeps a row that a live event changed after its top was read', () => {
    const pages = { pages: [{ data: [open('a', 3)], next_cursor: '1' }], pageParams: [undefined] }
    const next = withHead(pages, { data: [open('a', 2)], next_cursor: 'more' }, idOf)
    expect(next.pages[0]?.data).toEqual([open('a', 3)])
  })
})
