import { z } from 'zod'
import { Timestamp } from '../operation.ts'

export const Label = z.string().trim().min(1).max(200)

export const NewProject = z.strictObject({ name: Label })

export const Project = z.object({ project_id: z.string(), name: z.string(), created_at: Timestamp })
export type Project = z.infer<typeof Project>
