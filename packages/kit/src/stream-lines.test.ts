import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { streamLines } from './stream-lines.ts'

async function linesOf(...chunks: Buffer[]): Promise<string[]> {
  const lines: string[] = []
  for await (const line of streamLines(Readable.from(chunks))) lines.push(line)
  return lines
}

test('joins the lines and characters that chunks divide, and drops the line that was cut off', async () => {
  const euro = Buffer.from('€')
  const chunks = [Buffer.from('a'), Buffer.from('b\n\nc'), euro.subarray(0, 1), euro.subarray(1), Buffer.from('\nd')]
  expect(await linesOf(...chunks)).toEqual(['ab', '', 'c€'])
})

test('keeps a JSON text whole that contains U+2028', async () => {
  const text = JSON.stringify({ error: 'a\u2028b\u2029c\rd' })
  expect(await linesOf(Buffer.from(`${text}\n`))).toEqual([text])
})
