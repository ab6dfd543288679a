import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AuditVerification } from '@backstop/client'
import { type AuditFault, showableText } from '@backstop/contracts'
import type { Command } from 'commander'
import { addCommand, addGroup } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import type { Surroundings } from '../surroundings.ts'
import { verifyExport } from './verify-export.ts'

interface VerifyOptions extends JsonOption {
  readonly head?: string
  readonly offline?: string
  readonly publicKey?: string
}

/** `backstop audit …` */
export function addAudit(program: Command, surroundings: Surroundings): void {
  const audit = addGroup(program, 'audit', 'Check that nobody changed the audit, and export it')
  addCommand(
    audit,
    'verify',
    'Verify the whole audit. Keep the printed head elsewhere, and give it to a later verification.',
    'backstop audit verify --head 5120:9f86d081…',
    'backstop audit verify --offline audit.ndjson --public-key audit.pem',
  )
    .option('--head <sequence:hash>', 'a head that was kept elsewhere: the audit must still contain it')
    .option('--offline <file>', 'verify an export, without the management API')
    .option('--public-key <file>', 'for --offline: what `backstop audit public-key` printed')
    .action((options: VerifyOptions) =>
      options.offline === undefined ? verify(options, surroundings) : verifyOffline(options, surroundings),
    )
  addCommand(
    audit,
    'export',
    'Write the chain of the audit with a signature to standard output, as NDJSON.',
    'backstop audit export > audit.ndjson',
  ).action(async () => {
    // A large export takes longer than other calls.
    const response = await openClient(surroundings).audit.export({ timeoutMs: EXPORT_WITHIN_MS })
    if (response.body === null) throw new CommandFault('failed', 'The export is empty')
    await pipeline(Readable.fromWeb(response.body as never).setEncoding('utf8'), async lines => {
      for await (const text of lines) surroundings.out(text)
    })
  })
  addCommand(
    audit,
    'public-key',
    'Print the public keys that verify exports. Keep them apart from the database.',
    'backstop audit public-key > audit.pem',
  ).action(async (options: JsonOption) => {
    const { keys } = await openClient(surroundings).audit.getPublicKeys()
    printItem({ keys }, keys.map(({ public_key }) => public_key).join(''), options, surroundings)
  })
}

const EXPORT_WITHIN_MS = 3_600_000

async function verify({ head: kept, ...options }: VerifyOptions, surroundings: Surroundings): Promise<void> {
  const client = openClient(surroundings)
  let page = await client.audit.verify(kept === undefined ? {} : { head: kept })
  const { head, hashed_until } = page
  let { verified, unsigned } = page
  const faults = [...page.faults]
  // Each page continues below the last one, so the first page has the newest row.
  while (faults.length === 0 && page.next_sequence !== null) {
    surroundings.err(`${verified} rows verified\n`)
    page = await client.audit.verify({ from_sequence: page.next_sequence })
    verified += page.verified
    unsigned += page.unsigned
    faults.push(...page.faults)
  }
  const result = { state: faults.length === 0 ? 'intact' : 'broken', verified, head, faults, hashed_until, unsigned }
  report(result as Result, options, surroundings)
}

type Result = Pick<AuditVerification, 'state' | 'verified' | 'head' | 'faults' | 'hashed_until' | 'unsigned'>

function report(result: Result, options: JsonOption, surroundings: Surroundings): void {
  const { verified, head, faults, hashed_until, unsigned } = result
  const lines = [
    `All ${verified} rows are unchanged. ${head === null ? 'There are none yet' : `The head is ${head.sequence}:${head.hash}`}`,
    ...(hashed_until === null
      ? []
      : [
          `Rows up to ${hashed_until} are only hashed, because they are older than the update: compare them with a copy`,
        ]),
    ...(unsigned === 0
      ? []
      : [`${unsigned} rows were written without SECRET_KEYS: by keys recover, or during the update`]),
  ]
  printItem(result, faults.length === 0 ? `${lines.join('\n')}\n` : '', options, surroundings)
  if (faults.length > 0) throw brokenAudit(faults)
}

function brokenAudit(faults: readonly Pick<AuditFault, 'text'>[]): CommandFault {
  const texts = faults.map(({ text }) => showableText(text))
  return new CommandFault(
    'failed',
    `The audit is not as it was written.\n${texts.join('\n')}`,
    'Compare it with a backup or an export, and find out who may write the database (docs/runbooks/BackstopAuditBroken.md)',
  )
}

async function verifyOffline({ offline = '', publicKey, ...options }: VerifyOptions, surroundings: Surroundings) {
  if (publicKey === undefined) {
    const remedy = 'Give --public-key with the file that `backstop audit public-key` printed'
    throw new CommandFault('misused', 'An export is verified with a public key', remedy)
  }
  const keys = readFileSync(publicKey, 'utf8')
  const { statement, faults, unsigned } = await verifyExport(createReadStream(offline), keys)
  const state = faults.length === 0 ? ('intact' as const) : ('broken' as const)
  const head = statement && { sequence: statement.last_sequence, hash: statement.last_hash }
  const { rows = 0, hashed_until = null } = statement ?? {}
  report(
    { state, verified: rows, head: head ?? null, faults: [...faults], hashed_until, unsigned },
    options,
    surroundings,
  )
}
