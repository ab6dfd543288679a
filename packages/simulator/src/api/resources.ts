import type { ApiCall } from './provider-api.ts'

/** How an API answers reads of one type of object. */
export interface Resource<Records> {
  /** Absent if the API has no list of the type. @throws ApiRefusal for a wrong parameter */
  list?(records: Records, call: ApiCall): object
  /** Absent if the API returns no single object. @throws ApiRefusal if the object does not exist */
  get?(records: Records, id: string, call: ApiCall): object
}

/** The answers to all reads, by the name of the resource in the path. */
export type Resources<Records> = ReadonlyMap<string, Resource<Records>>

/** Answers the read of `/<resource>` or `/<resource>/<id>`; undefined for an unknown path. */
export function readResource<Records>(
  resources: Resources<Records>,
  records: Records,
  [name = '', id, ...rest]: readonly string[],
  call: ApiCall,
): object | undefined {
  const resource = rest.length === 0 ? resources.get(name) : undefined
  return id === undefined ? resource?.list?.(records, call) : resource?.get?.(records, id, call)
}
