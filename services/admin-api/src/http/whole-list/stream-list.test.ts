import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { streamList } from './stream-list.ts'

function pagesOf(count: number, read: number[] = []) {
  return (async function* () {
    for (let page = 0; page < count; page++) {
      read.push(page)
      yield [{ id: `a${page}`, amount: page, more: 'not a column' }]
    }
  })()
}

const signal = new AbortController().signal

test('writes CSV with a header line, and only the columns', async () => {
  const out = new PassThrough()
  await streamList(out, { format: 'csv', columns: ['id', 'amount'], pages: pagesOf(2), signal })
  expect(await text(out)).toBe('id,amount\r\na0,0\r\na1,1\r\n')
})

test('writes NDJSON with one object on each line', async () => {
  const out = new PassThrough()
  await streamList(out, { format: 'ndjson', columns: [], pages: pagesOf(2), signal })
  const lines = (await text(out)).trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line))).toEqual([
    { id: 'a0', amount: 0, more: 'not a column' },
    { id: 'a1', amount: 1, more: 'not a column' },
  ])
})

test('reads no further page while the client takes none, and ends when the client disconnects', async () => {
  const read: number[] = []
  const out = new PassThrough({ highWaterMark: 1 })
  const client = new AbortController()
  const pages = pagesOf(1_000, read)
  const done = streamList(out, { format: 'ndjson', columns: [], pages, signal: client.signal })
  await until('the first page', async () => read.length > 0)
  expect(read).toEqual([0])
  out.read()
  await until('the second page', async () => read.length > 1)
  expect(read).toEqual([0, 1])
  client.abort()
  await done
  expect(read).toEqual([0, 1])
})

test('cuts a client that takes nothing for the given time, so that it sees that the list is incomplete', async () => {
  const read: number[] = []
  const out = new PassThrough({ highWaterMark: 1 })
  const drainWithinMs = 50
  await streamList(out, { format: 'ndjson', columns: [], pages: pagesOf(1_000, read), signal, drainWithinMs })
  expect(out.destroyed).toBe(true)
  expect(out.writableEnded).toBe(false)
  expect(read).toEqual([0])
})
