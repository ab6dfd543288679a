import { expect, test } from 'vitest'
import { progressOn } from './progress.ts'

function recordingStream(isTTY: boolean) {
  const written: string[] = []
  return { written, isTTY, columns: 40, write: (text: string) => written.push(text) }
}

test('off a terminal each change is one plain line, and counting on is no change', () => {
  const stream = recordingStream(false)
  let now = 0
  const step = progressOn(stream, () => now).step('Kafka')
  step.update('downloading, 0 MB of 45 MB')
  step.update('downloading, 17 MB of 45 MB')
  step.update('unpacking')
  now = 2500
  step.done('downloaded')
  expect(stream.written).toEqual([
    '· Kafka: downloading, 0 MB of 45 MB\n',
    '· Kafka: unpacking\n',
    '✓ Kafka: downloaded (2.5 s)\n',
  ])
})

test('a failure comes with its remedy', () => {
  const stream = recordingStream(false)
  progressOn(stream).step('Python').fail('python3 has no pip', 'install it')
  expect(stream.written).toEqual(['✗ Python: python3 has no pip\n  → install it\n'])
})

test('on a terminal lines change in place, within the width of the terminal', () => {
  const stream = recordingStream(true)
  const log = progressOn(stream, () => 0)
  const kafka = log.step('Kafka')
  kafka.update('starting')
  const mongo = log.step('MongoDB')
  mongo.update('a text that is much longer than the terminal is wide')
  kafka.done('up')
  expect(stream.written.join('')).toBe(
    [
      '… Kafka: starting\n',
      '\u001b[1A\u001b[J… Kafka: starting\n',
      '… MongoDB: a text that is much longer t\n',
      '\u001b[2A\u001b[J✓ Kafka: up (0.0 s)\n',
      '… MongoDB: a text that is much longer t\n',
    ].join(''),
  )
})

test('on a terminal printed text stays above the steps in progress', () => {
  const stream = recordingStream(true)
  const log = progressOn(stream, () => 0)
  log.step('Kafka').update('starting')
  log.print('a note')
  expect(stream.written.join('')).toBe('… Kafka: starting\n\u001b[1A\u001b[Ja note\n… Kafka: starting\n')
})
