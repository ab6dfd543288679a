/**
 * The base URL of an API, without a trailing slash.
 * @param given the provider's public address or api_base, with or without a trailing slash and the API's version
 * @param version the first part of every path of the API, e.g. `/v1`; empty if paths have none
 */
export function baseUrl(given: string, version = ''): string {
  const bare = given.replace(/\/+$/, '')
  return bare.endsWith(version) ? bare : `${bare}${version}`
}
