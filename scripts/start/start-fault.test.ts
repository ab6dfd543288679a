import { StackError } from '@backstop/stack'
import { expect, test } from 'vitest'
import { describeFault, StartFault } from './start-fault.ts'

const fileFault = (code: string) => Object.assign(new Error(`${code}: no, open '.backstop/x'`), { code })

test.each([
  { name: 'a fault of the start', error: new StartFault('A is wrong', 'Mend A'), text: '✗ A is wrong\n  → Mend A' },
  { name: 'a fault of the stack', error: new StackError('B is away', 'Start B'), text: '✗ B is away\n  → Start B' },
  { name: 'a fault that says it all', error: new StackError('C is away', ''), text: '✗ C is away' },
  {
    name: 'a folder that may not be written',
    error: fileFault('EACCES'),
    text: `✗ EACCES: no, open '.backstop/x'\n  → Make it writable for you, or move the clone to where you may write`,
  },
  {
    name: 'a fault that nobody thought of',
    error: new TypeError('x is not a function'),
    text: '✗ x is not a function',
  },
  { name: 'something that is no error', error: 'oh', text: '✗ oh' },
])('$name is told with its remedy, where there is one', ({ error, text }) => {
  expect(describeFault(error)).toBe(text)
})
