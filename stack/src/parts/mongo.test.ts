import { expect, test } from 'vitest'
import { explainLogLine } from './mongo.ts'

test.each([
  {
    name: 'an error',
    line: '{"s":"E","c":"STORAGE","msg":"WiredTiger error","attr":{"error":-31804}}',
    shown: 'E WiredTiger error {"error":-31804}',
  },
  {
    name: 'a warning without attributes',
    line: '{"s":"W","msg":"Access control is not enabled"}',
    shown: 'W Access control is not enabled',
  },
  { name: 'a frame of a call stack', line: '{"s":"I","msg":"Frame","attr":{}}', shown: undefined },
  {
    name: 'a line of the loader',
    line: 'mongod: error while loading shared libraries',
    shown: 'mongod: error while loading shared libraries',
  },
])('$name is shown as a person reads it', ({ line, shown }) => {
  expect(explainLogLine(line)).toBe(shown)
})
