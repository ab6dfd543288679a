import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readInput } from './read-input.ts'
import type { Typed } from './surroundings.ts'

/** Types a line at a terminal. @returns the line, and everything that the terminal showed */
async function typeAt(typed: Typed, line: string) {
  const [input, output] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()]
  let shown = ''
  output.on('data', chunk => (shown += chunk))
  const answer = readInput('Type yes: ', typed, { input, output })
  input.write(`${line}\r`)
  return { answer: await answer, shown }
}

test('shows the answer to a question while it is typed, and hides a secret', async () => {
  expect(await typeAt('shown', 'yes')).toMatchObject({
    answer: 'yes',
    shown: expect.stringMatching(/Type yes: .*yes/s),
  })
  const hidden = await typeAt('hidden', 'bsk_secret')
  expect(hidden.answer).toBe('bsk_secret')
  expect(hidden.shown).toContain('Type yes: ')
  expect(hidden.shown).not.toContain('bsk_secret')
})

test('reads input that is no terminal to its end, without a question', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  input.end('one\ntwo\n')
  expect(await readInput('Key: ', 'hidden', { input, output })).toBe('one\ntwo\n')
  expect(output.read()).toBeNull()
})
