/** Sends lines of a file as reports. */
import { setTimeout as pause } from 'node:timers/promises'
import { ApiProblem, type Client, NoAnswer } from '@backstop/client'

type Item = Parameters<Client['operations']['batch']>[0]['items'][number]

/** A line that Backstop did not record. */
export interface RefusedLine {
  readonly line: string
  readonly reason: string
}

export interface SendOptions {
  readonly client: Pick<Client, 'operations'>
  /** Called when Backstop does not answer, before the lines are sent again. */
  readonly onWait: (error: Error) => void
  readonly signal: AbortSignal
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** Below the largest body of a batch, which is 2 MB. */
const BATCH_BYTES = 1_000_000
const BATCH_LINES = 1_000

/**
 * Sends lines in batches, in their order, and again until each is recorded or refused. Empty lines are left out.
 * @returns the refused lines @throws ApiProblem if the key is refused, or the reason of the signal
 */
export async function sendLines(lines: readonly string[], options: SendOptions): Promise<readonly RefusedLine[]> {
  const refused: RefusedLine[] = []
  const readable: Readable[] = []
  for (const line of lines) {
    if (line.trim() === '') continue
    const item = readItem(line)
    if (typeof item === 'string') refused.push({ line, reason: item })
    else readable.push({ line, item })
  }
  for (const batch of batchesOf(readable)) refused.push(...(await sendBatch(batch, options)))
  return refused
}

interface Readable {
  readonly line: string
  readonly item: Item
}

/** @returns why a line is no report */
function readItem(line: string): Item | string {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return `It is not JSON: ${(error as Error).message}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'It is not a JSON object'
  return { type: 'report', ...value } as Item
}

function* batchesOf(all: readonly Readable[]): Generator<Readable[]> {
  let batch: Readable[] = []
  let bytes = 0
  for (const one of all) {
    if (batch.length === BATCH_LINES || bytes + one.line.length > BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(one)
    bytes += one.line.length
  }
  if (batch.length > 0) yield batch
}

async function sendBatch(batch: readonly Readable[], options: SendOptions): Promise<readonly RefusedLine[]> {
  const refused: RefusedLine[] = []
  let left = batch
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      const { results } = await options.client.operations.batch({ items: left.map(({ item }) => item) })
      const isOut = (at: number) => (results[at]?.status ?? 500) >= 500
      refused.push(...left.flatMap(({ line }, at) => (isOut(at) ? [] : refusalOf(line, results[at]?.problem ?? null))))
      left = left.filter((_, at) => isOut(at))
      const [first] = left
      if (first === undefined) return refused
      options.onWait(new Error(`Backstop could not record ${first.line.slice(0, 200)}`))
    } catch (error) {
      if (error instanceof ApiProblem && isAboutLines(error))
        return [...refused, ...(await sendApart(left, error, options))]
      const mayPass = error instanceof NoAnswer || (error instanceof ApiProblem && mayPassLater(error))
      if (!mayPass) throw error
      options.onWait(error)
    }
    await pause(waitMs, undefined, { signal: options.signal })
  }
}

/** One invalid line refuses its whole batch, so the halves are sent apart. */
async function sendApart(batch: readonly Readable[], problem: ApiProblem, options: SendOptions) {
  const [only] = batch
  if (batch.length === 1 && only !== undefined) return refusalOf(only.line, problem)
  const half = Math.ceil(batch.length / 2)
  return [...(await sendBatch(batch.slice(0, half), options)), ...(await sendBatch(batch.slice(half), options))]
}

/** Without a code of the API, something before it has answered, such as a proxy. */
function isAboutLines({ status, code }: ApiProblem): boolean {
  return code !== 'unknown' && (status === 400 || status === 413)
}

function mayPassLater({ status, code }: ApiProblem): boolean {
  return status === 408 || status === 429 || status >= 500 || (code === 'unknown' && [400, 413].includes(status))
}

function refusalOf(
  line: string,
  problem: (Pick<ApiProblem, 'detail'> & { errors?: ApiProblem['errors'] }) | null,
): RefusedLine[] {
  if (problem === null) return []
  // The path begins with the place in the batch, which says nothing about the line.
  const fields = (problem.errors ?? []).map(
    ({ path, message }) => `${path.replace(/^(?:body\.)?items\.\d+\./, '')}: ${message}`,
  )
  return [{ line, reason: fields.length > 0 ? fields.join('; ') : problem.detail }]
}
