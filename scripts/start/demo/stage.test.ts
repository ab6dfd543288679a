import { expect, test } from 'vitest'
import { createStage } from './stage.ts'

function stageOn(isTTY: boolean) {
  let nowMs = 0
  const written: string[] = []
  const stage = createStage({ isTTY, columns: 60, write: text => written.push(text) }, () => nowMs)
  return { stage, text: () => written.join(''), later: (ms: number) => (nowMs += ms) }
}

test('on a terminal the changing line is drawn anew below each fact', () => {
  const { stage, text } = stageOn(true)
  stage.live('in 3 s')
  stage.print('a fact')
  stage.live(undefined)
  expect(text()).toBe('in 3 s\r\u001b[2Ka fact\nin 3 s\r\u001b[2K')
})

test('elsewhere the changing line is shown now and then, without control characters', () => {
  const { stage, text, later } = stageOn(false)
  stage.live('in 60 s')
  later(1_000)
  stage.live('in 59 s')
  later(15_000)
  stage.live('in 44 s')
  stage.live(undefined)
  expect(text()).toBe('in 60 s\nin 44 s\n')
})
