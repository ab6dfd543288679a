import { expect, test } from 'vitest'
import { createEventParser } from './stream-events.ts'

const TEXT =
  ': open\nretry: 1000\n\nid: 1\nevent: incident\ndata: {"a":"€"}\n\n: heartbeat\nid: 2\n\nid: 3\r\nevent: action\r\ndata: {\r\ndata: }\r\n\r\nid: 4\nevent: cut'

test.each([1, 2, 3, 7, 1_000])(
  'reads events and heartbeats from chunks of %i bytes, and drops what is cut off',
  size => {
    const bytes = new TextEncoder().encode(TEXT)
    const parse = createEventParser()
    const events = []
    for (let at = 0; at < bytes.length; at += size) events.push(...parse(bytes.subarray(at, at + size)))
    expect(events).toEqual([
      { id: '1', type: 'incident', data: '{"a":"€"}' },
      { id: '2', type: '', data: '' },
      { id: '3', type: 'action', data: '{\n}' },
    ])
  },
)
