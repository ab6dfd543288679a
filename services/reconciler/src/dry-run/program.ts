/**
 * The program that `backstop dry-run` starts. It reads a DryRunRequest as the first line of standard input, and writes a DryRunLine per
 * line to standard output. Credentials come by standard input, because every user of the machine sees the arguments of a program.
 */
import type { DryRunLine } from '@backstop/contracts'
import { streamLines } from '@backstop/kit/stream-lines'
import { answerRequest } from './answer-request.ts'

const write = (line: DryRunLine, onWritten?: () => void) => {
  process.stdout.write(`${JSON.stringify(line)}\n`, onWritten)
}

// The caller keeps standard input open. If the input is closed, the caller has ended (possibly killed), so nobody reads the result.
const input = streamLines(process.stdin)
const request = await input.next()
const exitUnread = () => process.exit(1)
input.next().then(exitUnread, exitUnread)
process.stdout.on('error', exitUnread)

const last = await answerRequest(request.value ?? '', Date.now, write)
write(last, () => process.exit(last.type === 'summary' ? 0 : 1))
