import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Environment, SECRET_METADATA, setting } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import type { Logger } from '../logger.ts'
import { createTracing, type Tracing } from './tracing.ts'

const RATIO_SAMPLERS = ['traceidratio', 'parentbased_traceidratio'] as const
const ALWAYS_SAMPLERS = ['always_on', 'parentbased_always_on'] as const
const NEVER_SAMPLERS = ['always_off', 'parentbased_always_off'] as const

/** The settings of traces, by the names that OpenTelemetry gives them. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting
    .url()
    .optional()
    .describe('Base URL of an OTLP/HTTP receiver, to which traces are sent; not set means no traces'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal('http/json', 'Give http/json; receivers of http/protobuf accept it at the same port')
    .default('http/json')
    .describe('Protocol of the receiver; only http/json'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine(text => readPairs(text) !== undefined, 'Give name=value, comma-separated, values percent-encoded')
    .transform(text => new Secret(text))
    .meta(SECRET_METADATA)
    .optional()
    .describe('Headers of each request to the receiver, for example its API key: name=value, comma-separated'),
  OTEL_TRACES_SAMPLER: z
    .enum([...RATIO_SAMPLERS, ...ALWAYS_SAMPLERS, ...NEVER_SAMPLERS])
    .default('parentbased_traceidratio')
    .describe('Which traces are recorded; the traceparent of a request never decides'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0|1|0?\.\d{1,9}|1\.0+|0\.0)$/, 'Give a number from 0 to 1')
    .transform(Number)
    .default(0.01)
    .describe('Share of the traces that are recorded, from 0 to 1, for the traceidratio samplers'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .refine(text => readPairs(text) !== undefined, 'Give name=value, comma-separated, values percent-encoded')
    .optional()
    .describe('Attributes of every span, for example deployment.environment.name=production'),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('true turns traces off'),
} as const

export type TracingConfig = z.infer<z.ZodObject<typeof tracingSettings>> & { readonly BACKSTOP_REVISION: string }

/**
 * The environment without the settings of traces that are off. Other programs of the machine use the same names, with values that are
 * unknown here.
 */
export function withoutUnusedTraces(environment: Environment): Environment {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_ENDPOINT_FILE: file, OTEL_SDK_DISABLED } = environment
  const isOn = Boolean(url || file) && OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
  if (isOn) return environment
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('OTEL_')))
}

/**
 * Starts traces if they are configured. Otherwise no code of OpenTelemetry is loaded.
 * @returns undefined if traces are off
 */
export async function startTracing(
  service: string,
  config: TracingConfig,
  logger: Logger,
): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config
  if (endpoint === undefined || config.OTEL_SDK_DISABLED === 'true') return undefined
  const { createOtlpRecorder } = await import('./otlp-recorder.ts')
  const recorder = createOtlpRecorder({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readPairs(headers?.reveal() ?? '') ?? {},
    resource: {
      'service.namespace': 'backstop',
      'service.name': `backstop-${service}`,
      'service.version': config.BACKSTOP_REVISION,
      'service.instance.id': randomUUID(),
      ...readPairs(config.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    },
    logger,
    now: () => performance.now(),
  })
  return createTracing(recorder, ratioOf(config))
}

function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingConfig): number {
  if (ALWAYS_SAMPLERS.some(name => name === sampler)) return 1
  return NEVER_SAMPLERS.some(name => name === sampler) ? 0 : ratio
}

/** Reads `name=value,name=value` with percent-encoded values; undefined if the text is invalid. */
function readPairs(text: string): Record<string, string> | undefined {
  const pairs: Record<string, string> = {}
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    if (at < 1) return undefined
    try {
      pairs[part.slice(0, at).trim()] = decodeURIComponent(part.slice(at + 1).trim())
    } catch {
      return undefined
    }
  }
  return pairs
}
