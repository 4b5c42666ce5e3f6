export interface Line { price: number; count: number }

export const total = (lines: Line[]): number => lines.reduce((sum: number, line) => sum + line.price * line.count, 0);
