/** `backstop report` with real files, against a server that answers as the management API does. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@backstop/client'
import { until } from '@backstop/kit/test'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FilePosition, followFile } from './follow-file.ts'
import { sendLines } from './send-lines.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'report-'))
  file = join(folder, 'refunds.ndjson')
})
const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
  rmSync(folder, { recursive: true })
})

describe('the lines of a file', () => {
  function follow(from?: FilePosition) {
    const stop = new AbortController()
    const lines: string[] = []
    let position: FilePosition | undefined
    let missing = 0
    const reading = (async () => {
      const options = { from, follows: true, signal: stop.signal, onMissing: () => missing++, graceMs: 1_000 }
      for await (const chunk of followFile(file, options)) {
        lines.push(...chunk.lines)
        position = chunk.position
      }
    })()
    const end = async () => {
      stop.abort()
      await reading
      return { lines, position, missing }
    }
    stops.push(end)
    return { end, have: (...wanted: string[]) => until('the lines', () => lines.join() === wanted.join()) }
  }

  async function readAll(from?: FilePosition): Promise<string[]> {
    const lines: string[] = []
    const options = { from, follows: false, signal: new AbortController().signal, onMissing: () => {} }
    for await (const chunk of followFile(file, options)) lines.push(...chunk.lines)
    return lines
  }

  test('are read with a last line that no newline ends, and letters that are cut by no read', async () => {
    const long = 'ü'.repeat(100_000)
    writeFileSync(file, `a\n${long}\n${long}\nlast`)
    expect(await readAll()).toEqual(['a', long, long, 'last'])
  })

  test('are read as they are appended, each when it is complete', async () => {
    writeFileSync(file, 'a\nb')
    const { have } = follow()
    await have('a')
    appendFileSync(file, '2\nc\n')
    await have('a', 'b2', 'c')
  })

  test('are read to the end of a rotated file, which its program still writes to, and then from the new one', async () => {
    writeFileSync(file, 'a\n')
    const { have } = follow()
    await have('a')
    renameSync(file, `${file}.1`)
    appendFileSync(`${file}.1`, 'b\n{"half":')
    writeFileSync(file, 'd\n')
    await have('a', 'b')
    appendFileSync(`${file}.1`, '1}\nc\n')
    await have('a', 'b', '{"half":1}', 'c', 'd')
  })

  test('are read from all files of two rotations, also if the new file is made later', async () => {
    writeFileSync(file, 'a\n')
    const first = follow()
    await first.have('a')
    rotate()
    appendFileSync(`${file}.1`, 'b\n')
    await first.have('a', 'b')
    const { position } = await first.end()
    await write('c')
    rotate()
    await write('d')
    const second = follow(position)
    await second.have('c', 'd')
    rotate()
    await write('e')
    await second.have('c', 'd', 'e')
    expect((await second.end()).missing).toBe(0)

    function rotate() {
      for (const [from, to] of [
        ['.2', '.3'],
        ['.1', '.2'],
        ['', '.1'],
      ]) {
        if (existsSync(file + from)) renameSync(file + from, file + to)
      }
    }

    /** Makes the file anew until it is newer than the one before: files of one moment have no order. */
    async function write(line: string) {
      await until('a later moment', () => {
        rmSync(file, { force: true })
        writeFileSync(file, `${line}\n`)
        return statSync(file).birthtimeMs > statSync(`${file}.1`).birthtimeMs
      })
    }
  })

  test('are read from the beginning of a truncated file, also if it has grown as large as before', async () => {
    writeFileSync(file, 'aaaaaa\n')
    const first = follow()
    await first.have('aaaaaa')
    const { position } = await first.end()
    truncateSync(file)
    appendFileSync(file, 'b1\nb2\nb3\n')
    const second = follow(position)
    await second.have('b1', 'b2', 'b3')
  })

  test('go on after a restart, also if the file was rotated in between', async () => {
    writeFileSync(file, 'a\n')
    const first = follow()
    await first.have('a')
    const { position } = await first.end()
    appendFileSync(file, 'b\n')
    expect(await readAll(position)).toEqual(['b'])
    renameSync(file, `${file}.1`)
    writeFileSync(file, 'c\n')
    const second = follow(position)
    await second.have('b', 'c')
    expect((await second.end()).missing).toBe(0)
  })

  test('are those of the new file if the rotated one was deleted, and that is said', async () => {
    writeFileSync(file, 'new\n')
    const { have, end } = follow({ inode: 1, bytes: 70, head: '' })
    await have('new')
    expect((await end()).missing).toBe(1)
  })

  test('are read however long they are', async () => {
    writeFileSync(file, `${'x'.repeat(600_000)}\nb\n`)
    expect((await readAll()).map(({ length }) => length)).toEqual([600_000, 1])
  })
})

describe('reports', () => {
  /** Records items. A subject `bad` refuses the whole body, `twice` only its item. */
  async function startApi() {
    const recorded: string[] = []
    const bodies: number[] = []
    let status = 200
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: { type: string; subject: string }[] }
      const problem = (of: number, code: string) => {
        const errors = of === 400 ? [{ path: 'body.items.0.subject', message: 'It is bad' }] : []
        return { status: of, code, title: code, detail: code, errors }
      }
      const answer = (of: number, body: object) =>
        response.writeHead(of, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (status !== 200) return answer(status, problem(status, 'unavailable'))
      bodies.push(items.length)
      if (items.some(({ subject }) => subject === 'bad')) return answer(400, problem(400, 'invalid_request'))
      recorded.push(...items.flatMap(({ type, subject }) => (subject === 'twice' ? [] : `${type} ${subject}`)))
      const results = items.map(({ subject }) =>
        subject === 'twice'
          ? { status: 409, operation: null, problem: problem(409, 'idempotency_conflict') }
          : { status: 201, operation: {}, problem: null },
      )
      answer(200, { results })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'k', retries: 0 })
    const fail = (of: number) => {
      status = of
    }
    return { client, recorded, bodies, fail }
  }

  const line = (subject: string) => JSON.stringify({ subject })

  test('are sent together; a line that is no report, or is refused, refuses no other', async () => {
    const { client, recorded, bodies } = await startApi()
    const lines = [line('a'), '', 'no JSON', line('bad'), '[]', line('twice'), line('b'), line('c')]
    const refused = await sendLines(lines, { client, onWait() {}, signal: new AbortController().signal })
    expect(recorded).toEqual(['report a', 'report b', 'report c'])
    expect(bodies[0]).toBe(5)
    expect(refused.map(one => `${one.line} ${one.reason}`)).toEqual([
      expect.stringContaining('no JSON It is not JSON'),
      '[] It is not a JSON object',
      `${line('bad')} subject: It is bad`,
      `${line('twice')} idempotency_conflict`,
    ])
  })

  test('wait while Backstop is unavailable, and a refused key ends the command', async () => {
    const { client, recorded, fail } = await startApi()
    fail(503)
    const waits: string[] = []
    const onWait = (error: Error) => {
      waits.push(error.message)
      fail(200)
    }
    const { signal } = new AbortController()
    expect(await sendLines([line('a')], { client, onWait, signal })).toEqual([])
    expect([recorded, waits]).toEqual([['report a'], ['unavailable']])
    fail(401)
    await expect(sendLines([line('a')], { client, onWait, signal })).rejects.toMatchObject({ status: 401 })
  })
})
