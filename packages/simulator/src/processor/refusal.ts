import { ApiRefusal } from '../api/api-refusal.ts'

/** The object `error` in the body of a refusal. */
interface ProcessorError {
  type: string
  code?: string
  message: string
  param?: string
  doc_url?: string
}

/** A refusal of the processor, in the form of its API. */
export class ProcessorRefusal extends ApiRefusal<{ error: ProcessorError }> {
  constructor(status: number, error: Omit<ProcessorError, 'doc_url'>, headers: Readonly<Record<string, string>> = {}) {
    const link = error.code === undefined ? {} : { doc_url: `https://stripe.com/docs/error-codes/${error.code}` }
    super(status, error.message, { error: { ...error, ...link } }, headers)
  }
}

/** 400 of type `invalid_request_error`. */
export function invalidRequest(message: string, param?: string, code?: string): ProcessorRefusal {
  return new ProcessorRefusal(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  })
}

/** 404 `resource_missing`. */
export function noSuch(kind: string, id: string, param = 'id'): ProcessorRefusal {
  return new ProcessorRefusal(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${kind}: '${id}'`,
    param,
  })
}
