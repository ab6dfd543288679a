import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, test } from 'vitest'
import { defineList, listKey, mergeIntoLists, readListsAgain } from './list.ts'

interface Thing {
  id: string
  state: string
  version: number
  deleted_at?: string
}

const list = defineList<Thing, { state?: string }>({
  resource: 'things',
  read: async () => ({ data: [], next_cursor: null }),
  idOf: ({ id }) => id,
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

beforeEach(() => {
  client = new QueryClient()
})

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
  show({}, [{ id: 'a', state: 'open', version: 1 }], [{ id: 'b', state: 'open', version: 1 }])
  readListsAgain(client, 'things')
  expect(shown()).toEqual([['a open']])
  expect(client.getQueryState(listKey('things'))?.isInvalidated).toBe(true)
})
