import { expect, test } from 'vitest'
import { connectionOptions } from './connection-options.ts'

const MAIN = { connection_id: 'con_main', name: 'Main' }
const OPTION = { value: 'con_main', label: 'Main' }

test.each([
  { name: 'no connection is chosen', chosen: { id: undefined, name: undefined }, expected: [OPTION] },
  { name: 'a listed one is chosen', chosen: { id: 'con_main', name: 'Main' }, expected: [OPTION] },
  {
    name: 'a deleted one is chosen',
    chosen: { id: 'con_old', name: 'Old' },
    expected: [{ value: 'con_old', label: 'Old' }, OPTION],
  },
  {
    name: 'the name of the chosen one is unknown',
    chosen: { id: 'con_old', name: undefined },
    expected: [{ value: 'con_old', label: 'con_old' }, OPTION],
  },
])('the options always have the chosen connection: $name', ({ chosen, expected }) => {
  expect(connectionOptions([MAIN], chosen)).toEqual(expected)
})
