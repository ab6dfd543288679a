/** The cases of the conformance suite, as `cases/*.yaml` has them. docs/reporting.md explains the format. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const Fields = z.record(z.string(), z.unknown())

/** A call of the library, by the name of its method. */
const Call = z.strictObject({
  method: z.string(),
  /** The id in the path of the request. */
  id: z.string().nullable().default(null),
  /** As the API names them. */
  params: Fields.default({}),
  idempotency_key: z.string().nullable().default(null),
  account: z.string().nullable().default(null),
  max_retries: z.int().default(0),
})
export type Call = z.infer<typeof Call>

/** What the provider answers to one request. */
const Answer = z.strictObject({
  /** `hang up` closes the connection without an answer, `none` leaves it open. */
  status: z.union([z.int(), z.enum(['hang up', 'none'])]).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  /** An object is sent as JSON, a text as it is. */
  body: z.union([z.string(), Fields]).default({}),
})
export type Answer = z.infer<typeof Answer>

/** What the program gets: the id of the object in the answer, or an error. */
const Result = z.union([
  z.strictObject({ id: z.string() }),
  z.strictObject({ ok: z.literal(true) }),
  z.strictObject({ error: z.string().describe('A part of its text, in lower case') }),
])
export type ExpectedResult = z.infer<typeof Result>

const Behaviour = z.union([
  z.enum(['up', 'down', 'silent']),
  z.strictObject({ status: z.int(), code: z.string(), subject: z.string().optional() }),
])
/** `silent` never answers. A status with `subject` refuses only the reports about it. */
export type Behaviour = z.infer<typeof Behaviour>

const Step = z.union([
  z.strictObject({ backstop: Behaviour }),
  z.strictObject({
    call: Call,
    /** How many times the call is made, at the same time. */
    times: z.int().default(1),
    /** For the requests in their order. The last is repeated. */
    answers: z.array(Answer).default([{ status: 200, headers: {}, body: {} }]),
    result: Result.default({ ok: true }),
    /** The longest time that a call takes, in milliseconds. */
    within_ms: z.int().optional(),
    /** The calls are made one after another, and the median of their durations is at most this. */
    median_ms: z.int().optional(),
  }),
  z.strictObject({
    /** The reports that arrived since the step `reports` before, without connection, times and key. */
    reports: z.array(Fields),
    /** How many idempotency keys they have. */
    operations: z.int().optional(),
  }),
  z.strictObject({
    /** How many operations were reported since the step `reports` before. The last report of each has the state. */
    operations: z.int(),
    state: z.string(),
  }),
  z.strictObject({ flush: z.boolean().describe('True if everything is sent') }),
  z.strictObject({ status: Fields }),
  z.strictObject({ close: z.boolean() }),
  z.strictObject({ kill: z.literal(true) }),
  z.strictObject({ killed_call: Call }),
  z.strictObject({ spool: z.enum(['private', 'empty']) }),
])
export type Step = z.infer<typeof Step>

const Library = z.enum(['stripe', 'paddle', 'chargebee'])
export type Library = z.infer<typeof Library>

const Short = z.strictObject({
  name: z.string(),
  call: Call,
  answers: z.array(Answer),
  result: Result.default({ ok: true }),
  reports: z.array(Fields),
})
const Long = z.strictObject({
  name: z.string(),
  spool: z.boolean().default(false),
  max_queued: z.int().default(100),
  steps: z.array(Step),
})

const CaseFile = z.strictObject({
  library: Library,
  /** Parts that cases repeat, as anchors. */
  parts: z.unknown().optional(),
  cases: z.array(z.union([Short, Long])),
})

export interface ConformanceCase {
  readonly name: string
  readonly library: Library
  readonly usesSpool: boolean
  readonly maxQueued: number
  readonly steps: readonly Step[]
  /** True if the same call is also made without a reporter, and must look the same to the provider and to the program. */
  readonly isCompared: boolean
}

/** All cases, in the order of their files. @throws ZodError for a file that is not in the format */
export function readCases(): ConformanceCase[] {
  const folder = join(import.meta.dirname, 'cases')
  const files = globSync('*.yaml', { cwd: folder }).sort()
  return files.flatMap(file => {
    const { library, cases } = CaseFile.parse(parse(readFileSync(join(folder, file), 'utf8'), { merge: true }))
    return cases.map(one => ({ ...toCase(one), library, name: `${library}: ${one.name}` }))
  })
}

function toCase(one: z.infer<typeof Short> | z.infer<typeof Long>): Omit<ConformanceCase, 'library' | 'name'> {
  if ('steps' in one) {
    return { steps: one.steps, usesSpool: one.spool, maxQueued: one.max_queued, isCompared: false }
  }
  const { call, answers, result, reports } = one
  const steps: Step[] = [{ call, times: 1, answers, result }, { flush: true }, { reports }]
  return { steps, usesSpool: false, maxQueued: 100, isCompared: true }
}
