import { useParams } from '@tanstack/react-router'

/** The id of the open project, from the URL. */
export function useProjectId(): string {
  return useParams({ strict: false }).project ?? ''
}

/** The id of the resource that the page shows, from the URL. */
export function useResourceId(): string {
  return useParams({ strict: false }).id ?? ''
}
