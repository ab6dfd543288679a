import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AuditVerification } from '@backstop/client'
import { type AuditFault, showableText } from '@backstop/contracts'
import type { Command } from 'commander'
import { addCommand, addGroup, type Context, given, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import type { Surroundings } from '../surroundings.ts'
import { verifyExport } from './verify-export.ts'

interface VerifyOptions {
  readonly head?: string
  readonly offline?: string
  readonly publicKey?: string
}

/** `backstop audit …` */
export function addAudit(program: Command, surroundings: Surroundings): void {
  const audit = addGroup(program, 'audit', 'Check that nobody changed the audit, and export it')
  addCommand(audit, surroundings, {
    usage: 'verify',
    summary: 'Verify the whole audit. Keep the printed head elsewhere, and give it to a later verification.',
    examples: [
      'backstop audit verify --head 5120:9f86d081…',
      'backstop audit verify --offline audit.ndjson --public-key audit.pem',
    ],
    options: [
      ['--head <sequence:hash>', 'a head that was kept elsewhere: the audit must still contain it'],
      ['--offline <file>', 'verify an export, without the management API'],
      ['--public-key <file>', 'for --offline: what `backstop audit public-key` printed'],
    ],
    run: (context, options: VerifyOptions) =>
      options.offline === undefined ? verify(context, options) : verifyOffline(options.offline, options),
  })
  addCommand(audit, surroundings, {
    usage: 'export',
    summary: 'Write the chain of the audit with a signature to standard output, as NDJSON.',
    examples: ['backstop audit export > audit.ndjson'],
    async run({ client, out }) {
      // A large export takes longer than other calls.
      const response = await client.audit.export({ timeoutMs: EXPORT_WITHIN_MS })
      if (response.body === null) throw new CommandFault('failed', 'The export is empty')
      await pipeline(Readable.fromWeb(response.body as never).setEncoding('utf8'), async lines => {
        for await (const text of lines) out(text)
      })
      return undefined
    },
  })
  addCommand(audit, surroundings, {
    usage: 'public-key',
    summary: 'Print the public keys that verify exports. Keep them apart from the database.',
    examples: ['backstop audit public-key > audit.pem'],
    async run({ client }) {
      const { keys } = await client.audit.getPublicKeys()
      return { item: { keys }, text: keys.map(({ public_key }) => public_key).join('') }
    },
  })
}

const EXPORT_WITHIN_MS = 3_600_000

async function verify({ client, err }: Context, { head: kept }: VerifyOptions): Promise<Printed> {
  let page = await client.audit.verify(given({ head: kept }))
  const { head, hashed_until } = page
  let { verified, unsigned } = page
  const faults = [...page.faults]
  // Each page continues below the last one, so the first page has the newest row.
  while (faults.length === 0 && page.next_sequence !== null) {
    err(`${verified} rows verified\n`)
    page = await client.audit.verify({ from_sequence: page.next_sequence })
    verified += page.verified
    unsigned += page.unsigned
    faults.push(...page.faults)
  }
  return printedResult({ verified, head, faults, hashed_until, unsigned })
}

type Result = Pick<AuditVerification, 'verified' | 'head' | 'faults' | 'hashed_until' | 'unsigned'>

function printedResult(result: Result): Printed {
  const { verified, head, faults, hashed_until, unsigned } = result
  const item = { state: faults.length === 0 ? 'intact' : 'broken', ...result }
  if (faults.length > 0) return { item, text: '', fault: brokenAudit(faults) }
  const lines = [
    `All ${verified} rows are unchanged. ${head === null ? 'There are none yet' : `The head is ${head.sequence}:${head.hash}`}`,
  ]
  if (hashed_until !== null) {
    lines.push(
      `Rows up to ${hashed_until} are only hashed, because they are older than the update: compare them with a copy`,
    )
  }
  if (unsigned > 0)
    lines.push(`${unsigned} rows were written without SECRET_KEYS: by keys recover, or during the update`)
  return { item, text: `${lines.join('\n')}\n` }
}

function brokenAudit(faults: readonly Pick<AuditFault, 'text'>[]): CommandFault {
  const texts = faults.map(({ text }) => showableText(text))
  return new CommandFault(
    'failed',
    `The audit is not as it was written.\n${texts.join('\n')}`,
    'Compare it with a backup or an export, and find out who may write the database (docs/runbooks/BackstopAuditBroken.md)',
  )
}

async function verifyOffline(offline: string, { publicKey }: VerifyOptions): Promise<Printed> {
  if (publicKey === undefined) {
    const remedy = 'Give --public-key with the file that `backstop audit public-key` printed'
    throw new CommandFault('misused', 'An export is verified with a public key', remedy)
  }
  const { statement, faults, unsigned } = await verifyExport(createReadStream(offline), readFileSync(publicKey, 'utf8'))
  const head = statement === undefined ? null : { sequence: statement.last_sequence, hash: statement.last_hash }
  const { rows = 0, hashed_until = null } = statement ?? {}
  return printedResult({ verified: rows, head, faults: [...faults], hashed_until, unsigned })
}
