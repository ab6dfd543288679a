import { setImmediate as untilNextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { watchTurns } from './turn-watch.ts'

const WAIT_MS = 4

/** Judges requests without a pause, as they are when the event loop reads many sockets in one turn, until one is overloaded. */
function judgeUntilOverloaded(watch: ReturnType<typeof watchTurns>, withinMs = 10_000) {
  const judged = []
  for (const endMs = performance.now() + withinMs; performance.now() < endMs && judged.at(-1) !== 'overloaded'; )
    judged.push(watch.judge().kind)
  return judged
}

test('a long turn accepts its first requests, and the next turn accepts again', async () => {
  const watch = watchTurns(WAIT_MS)
  const judged = judgeUntilOverloaded(watch)
  expect(judged.at(0)).toBe('bearable')
  expect(judged.at(-1)).toBe('overloaded')
  await untilNextTurn()
  expect(watch.judge().kind).toBe('bearable')
})

test('a turn that does not end accepts requests again and again', () => {
  const watch = watchTurns(WAIT_MS)
  let last = watch.judge().kind
  let beganAgain = 0
  for (const endMs = performance.now() + 10_000; beganAgain < 3 && performance.now() < endMs; ) {
    const { kind } = watch.judge()
    if (kind === 'bearable' && last === 'overloaded') beganAgain++
    last = kind
  }
  expect(beganAgain).toBe(3)
})

test('many short turns refuse nothing', async () => {
  const watch = watchTurns(WAIT_MS * 100)
  for (let turn = 0; turn < 200; turn++) {
    expect(watch.judge().kind).toBe('bearable')
    await untilNextTurn()
  }
})
