import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { addCommand, type Context, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { counted } from '../output/rules/counted.ts'
import type { Surroundings } from '../surroundings.ts'
import { type FilePosition, followFile } from './follow-file.ts'
import { sendLines } from './send-lines.ts'

interface ReportOptions {
  readonly follow?: boolean
}

/** `backstop report` */
export function addReport(program: Command, surroundings: Surroundings): void {
  addCommand<ReportOptions>(program, surroundings, {
    usage: 'report <file>',
    summary:
      'Send the lines of a file as reports of operations. FILE.position keeps the place, FILE.refused the lines that were refused.',
    examples: ['backstop report --follow /var/log/shop/refunds.ndjson'],
    options: [['--follow', 'go on with the lines that are appended, until Ctrl-C']],
    run: (context, options, file) => report(context, options, resolve(context.folder, file)),
  })
}

async function report({ client, err }: Context, { follow = false }: ReportOptions, file: string): Promise<Printed> {
  const stop = new AbortController()
  const onInterrupt = () => stop.abort()
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt)
  const sending = createSending(client, err, stop.signal)
  let recorded = 0
  let refused = 0
  try {
    const from = await readPosition(file)
    const onMissing = () =>
      err(`The file that ${file}.position is about is no longer there; ${file} is read from its beginning\n`)
    for await (const { lines, position } of followFile(file, {
      from,
      follows: follow,
      signal: stop.signal,
      onMissing,
    })) {
      const refusedLines = await sending(lines)
      await writeRefused(file, refusedLines, err)
      await writePosition(file, position)
      refused += refusedLines.length
      recorded += lines.filter(line => line.trim() !== '').length - refusedLines.length
    }
  } catch (error) {
    if (!stop.signal.aborted) throw faultOfFile(file, error)
  } finally {
    process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt)
  }
  const fault =
    refused === 0 ? undefined : new CommandFault('failed', `${counted(refused, 'line')} refused: ${file}.refused`)
  return { item: { recorded, refused }, text: `${counted(recorded, 'report')} recorded\n`, fault }
}

/** Sends lines, and says once in each outage that they wait. */
function createSending(client: Context['client'], err: Context['err'], signal: AbortSignal) {
  let isWaiting = false
  return async (lines: readonly string[]) => {
    const onWait = (error: Error) => {
      if (!isWaiting) err(`${error.message}. The lines wait, and are sent again\n`)
      isWaiting = true
    }
    const refused = await sendLines(lines, { client, onWait, signal })
    if (isWaiting) err('Backstop answers again\n')
    isWaiting = false
    return refused
  }
}

async function readPosition(file: string): Promise<FilePosition | undefined> {
  try {
    return JSON.parse(await readFile(`${file}.position`, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A crash leaves the old or the new position. Lines that are sent again are recognised by their idempotency keys. */
async function writePosition(file: string, position: FilePosition): Promise<void> {
  await writeFile(`${file}.position.new`, JSON.stringify(position), { mode: 0o600 })
  await rename(`${file}.position.new`, `${file}.position`)
}

async function writeRefused(file: string, refused: Awaited<ReturnType<typeof sendLines>>, err: Context['err']) {
  if (refused.length === 0) return
  await appendFile(`${file}.refused`, refused.map(({ line }) => `${line}\n`).join(''), { mode: 0o600 })
  for (const { line, reason } of refused) err(`Refused: ${reason}\n  ${line.slice(0, 200)}\n`)
}

function faultOfFile(file: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new CommandFault('not_found', `There is no file ${file}`)
  if (code === 'EACCES')
    return new CommandFault('failed', message, 'The command writes FILE.position and FILE.refused beside the file')
  if (error instanceof SyntaxError)
    return new CommandFault(
      'failed',
      `${file}.position is not readable: ${message}`,
      'Delete it to read the file from its beginning: reports that were recorded are recognised',
    )
  return error
}
